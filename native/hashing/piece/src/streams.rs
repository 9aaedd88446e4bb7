//! `piece_stream` and `piece_unverified`: the download of `stream.js`, without storage.
//!
//! A stream with an unverified piece fails its check. The reference of `piece_unverified` is in
//! Kotlin, so without a JVM its one arm gets no verdict.

use std::cell::Cell;
use std::rc::Rc;

use paceline_harness::{Arm, Benchmark, Check, Context, Failure, Param, Prepared};
use paceline_hashing_quickjs::DIGEST_BYTES;

use crate::pieces::{PIECE_BYTES, PIECES};
use crate::scripts::{
    DIGEST, JS_THREAD, Scripts, drawn, expected, script_arm, times, without_kotlin,
};

/// Pieces of a round by default. The original download of 1 GB has 1,012, which may be requested.
const DEFAULT_PIECES: u64 = 64;
const MOST_PIECES: u64 = 1024;

pub(crate) fn piece_stream() -> Benchmark {
    let native = [
        "native_multi",
        "native_multi_pool",
        "async_native",
        "async_native_pool",
    ];
    stream("piece_stream", &["seed", "direct"], native.into())
}

pub(crate) fn piece_unverified() -> Benchmark {
    stream("piece_unverified", &["seed"], vec!["skip_verification"])
}

fn stream(name: &str, in_kotlin: &'static [&'static str], native: Vec<&'static str>) -> Benchmark {
    Benchmark {
        name: name.to_owned(),
        arms: in_kotlin
            .iter()
            .chain(&native)
            .map(|name| (*name).to_owned())
            .collect(),
        params: vec![Param::int("pieces", &[DEFAULT_PIECES], 1, MOST_PIECES)],
        metrics: times(&[JS_THREAD, DIGEST]),
        prepare: Box::new(move |context| prepare(context, in_kotlin, &native)),
    }
}

fn prepare(
    context: &Context<'_>,
    in_kotlin: &[&str],
    native: &[&'static str],
) -> Result<Prepared, Failure> {
    let count = context.int("pieces");
    let scripts = Rc::new(Scripts::open()?);
    // A stream repeats its pieces; a short one would never use the others.
    let sources = usize::try_from(count).map_or(PIECES, |count| count.min(PIECES));
    let pieces = drawn(context.seed, sources, PIECE_BYTES);
    let digests = expected(&pieces)?;
    for (mut piece, digest) in pieces.into_iter().zip(digests.chunks_exact(DIGEST_BYTES)) {
        piece.extend_from_slice(digest);
        scripts.give("stream_add", piece);
    }
    let mut arms = without_kotlin(in_kotlin);
    arms.extend(native.iter().map(|name| arm(name, &scripts, count)));
    let native = native.to_owned();
    Ok(Prepared {
        arms,
        items_per_iteration: Some(count),
        bytes_per_iteration: Some(count * PIECE_BYTES),
        verify: Box::new(move || vec![streams_verify(&scripts, &native, count)]),
    })
}

/// What streams did since the last call, as their script counted it.
#[derive(Clone, Copy, Default)]
struct Done {
    assembled: u64,
    hashed: u64,
    verified: u64,
}

fn done(scripts: &Scripts) -> Done {
    match scripts.numbers("stream_done")[..] {
        [assembled, hashed, verified] => Done {
            assembled,
            hashed,
            verified,
        },
        _ => Done::default(),
    }
}

fn arm(name: &str, scripts: &Rc<Scripts>, count: u64) -> Arm {
    let function = format!("stream_{name}");
    let last = Rc::new(Cell::new(Done::default()));
    let counted = Rc::clone(&last);
    let body = move |scripts: &Scripts, iterations| {
        for _ in 0..iterations {
            scripts.call(&function, count);
        }
    };
    // Read here and not with the counters, because the arms of a round share a script.
    let after = move |scripts: &Scripts| last.set(done(scripts));
    let work = move || {
        let Done {
            assembled, hashed, ..
        } = counted.get();
        vec![
            ("items".to_owned(), assembled),
            ("hashed".to_owned(), hashed),
        ]
    };
    script_arm(name, scripts, body, after, work)
}

fn streams_verify(scripts: &Scripts, names: &[&str], count: u64) -> Check {
    let missed = |name: &&str| {
        scripts.call(&format!("stream_{name}"), count);
        let verified = done(scripts).verified;
        (verified != count).then(|| format!("{name} verified {verified}"))
    };
    let missed: Vec<String> = names.iter().filter_map(missed).collect();
    let summary = if missed.is_empty() {
        "all verified".to_owned()
    } else {
        missed.join(", ")
    };
    let detail = scripts
        .failed()
        .unwrap_or_else(|| format!("{count} pieces: {summary}"));
    let ok = missed.is_empty() && scripts.failed().is_none();
    Check {
        name: "stream_verifies".to_owned(),
        ok,
        detail,
    }
}
