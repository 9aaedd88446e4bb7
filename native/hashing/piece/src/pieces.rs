//! `piece` and `piece_instrumentation`: SHA-1 of 16 pieces by the functions of `pieces.js`.
//!
//! Every arm hashes the same pieces and keeps every digest; `arms_agree` erases them, runs every
//! arm and compares with the core's scalar twin. For pieces of 1 MiB a calibrated loop is one
//! iteration, which the JVM's twin always takes.

use std::rc::Rc;

use paceline_harness::{Arm, Benchmark, Check, Context, Failure, Param, Prepared, Reading};
use paceline_hashing_quickjs::DIGEST_BYTES;

use crate::scripts::{
    CALL_TIME, DIGEST, JS_THREAD, Scripts, drawn, expected, script_arm, times, without_kotlin,
};

/// Pieces of one iteration: one call of `batch_16` takes them all.
pub(crate) const PIECES: usize = 16;
/// The piece length of the original's download, in bytes.
pub(crate) const PIECE_BYTES: u64 = 1 << 20;
const MOST_PIECE_BYTES: u64 = 4 << 20;

const IN_KOTLIN: [&str; 8] = [
    "raw", "seed", "noslice", "reuse", "direct", "batch_8", "batch_16", "async",
];
const NATIVE: [&str; 5] = [
    "native",
    "native_multi_8",
    "native_multi_16",
    "native_multi",
    "async_native",
];
/// The original product's path and its counters, which are in Kotlin.
const INSTRUMENTATION: [&str; 3] = ["off", "on", "lines"];

pub(crate) fn piece() -> Benchmark {
    Benchmark {
        name: "piece".to_owned(),
        arms: [IN_KOTLIN.as_slice(), &NATIVE]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        params: vec![piece_bytes()],
        metrics: times(&[JS_THREAD, DIGEST, CALL_TIME]),
        prepare: Box::new(prepare),
    }
}

/// Announced, so that a device gives the reason why it has none.
pub(crate) fn piece_instrumentation() -> Benchmark {
    Benchmark {
        name: "piece_instrumentation".to_owned(),
        arms: INSTRUMENTATION.map(str::to_owned).into(),
        params: vec![piece_bytes()],
        metrics: times(&[JS_THREAD, CALL_TIME]),
        prepare: Box::new(|context| {
            Ok(Prepared {
                arms: without_kotlin(&INSTRUMENTATION),
                items_per_iteration: Some(PIECES as u64),
                bytes_per_iteration: Some(PIECES as u64 * context.int("piece_bytes")),
                verify: Box::new(Vec::new),
            })
        }),
    }
}

fn piece_bytes() -> Param {
    Param::int("piece_bytes", &[PIECE_BYTES], 1, MOST_PIECE_BYTES)
}

fn prepare(context: &Context<'_>) -> Result<Prepared, Failure> {
    let bytes = context.int("piece_bytes");
    let pieces = drawn(context.seed, PIECES, bytes);
    let expected = expected(&pieces)?;
    let scripts = Rc::new(Scripts::open()?);
    for piece in pieces {
        scripts.give("piece_add", piece);
    }
    let mut arms = without_kotlin(&IN_KOTLIN);
    arms.extend(NATIVE.map(|name| arm(name, &scripts)));
    Ok(Prepared {
        arms,
        items_per_iteration: Some(PIECES as u64),
        bytes_per_iteration: Some(PIECES as u64 * bytes),
        verify: Box::new(move || vec![arms_agree(&scripts, &expected)]),
    })
}

fn arm(name: &'static str, scripts: &Rc<Scripts>) -> Arm {
    let function = format!("piece_{name}");
    let (counted, timed) = (Rc::clone(scripts), Rc::clone(scripts));
    let work = move || {
        let hashed = counted
            .numbers(&format!("piece_{name}_hashed"))
            .first()
            .copied()
            .unwrap_or(0);
        let kept = counted
            .call(&format!("piece_{name}_digests"), 0)
            .map_or(0, |digests| digests.len());
        vec![
            ("items".to_owned(), hashed),
            ("kept".to_owned(), (kept / DIGEST_BYTES) as u64),
        ]
    };
    let body = move |scripts: &Scripts, iterations| drop(scripts.call(&function, iterations));
    script_arm(name, scripts, body, |_| (), work)
        .with_metric(CALL_TIME, move || Reading::Each(durations(&timed, name)))
}

/// A script's numbers are doubles; a duration in whole nanoseconds fits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "durations of a monotonic clock"
)]
fn durations(scripts: &Scripts, name: &str) -> Vec<u64> {
    let bytes = scripts
        .call(&format!("piece_{name}_calls"), 0)
        .unwrap_or_default();
    let doubles = bytes.as_chunks().0;
    doubles
        .iter()
        .map(|double| f64::from_ne_bytes(*double) as u64)
        .collect()
}

fn arms_agree(scripts: &Scripts, expected: &[u8]) -> Check {
    let differing = |name: &&str| {
        scripts.call(&format!("piece_{name}_forget"), 0);
        scripts.call(&format!("piece_{name}"), 1);
        scripts.call(&format!("piece_{name}_digests"), 0).as_deref() != Some(expected)
    };
    let wrong: Vec<&str> = NATIVE.into_iter().filter(differing).collect();
    let all = format!(
        "{} arms, {PIECES} pieces each, against the scalar twin",
        NATIVE.len()
    );
    let detail = match scripts.failed() {
        Some(text) => text,
        None if wrong.is_empty() => all,
        None => format!("{} differ: {all}", wrong.join(", ")),
    };
    let ok = wrong.is_empty() && scripts.failed().is_none();
    Check {
        name: "arms_agree".to_owned(),
        ok,
        detail,
    }
}
