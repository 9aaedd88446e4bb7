//! Checks the workload before any timing (I1): every native way to hash from a script must compute
//! published digests, and `QuickJS` must pass a smoke test.
//!
//! A check that fails is reported; it does not end the launch.

use paceline_harness::Check;
use paceline_hashing_quickjs::quickjs_version;

use crate::scripts::{NEEDS_KOTLIN, Scripts};

/// FIPS 180-4's examples (NIST `SHA1.pdf`), CAVP's empty message, and the million of `a`.
const VECTORS: [(&str, usize, &str); 4] = [
    ("", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        1,
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
    ),
    ("a", 1_000_000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
];

/// Arguments that the core's digest functions must refuse, as those in Kotlin would.
const WRONG: [&str; 4] = [
    "undefined",
    "'text'",
    "new Uint16Array(2)",
    "new Uint8Array(new SharedArrayBuffer(8))",
];

pub(crate) fn all() -> Vec<Check> {
    vec![
        check("sha1_vectors", sha1_vectors),
        check("quickjs_smoke", smoke),
    ]
}

fn check(name: &str, look: fn(&Scripts) -> Result<String, String>) -> Check {
    let outcome = Scripts::open()
        .map_err(|failure| failure.to_string())
        .and_then(|scripts| look(&scripts));
    let ok = outcome.is_ok();
    Check {
        name: name.to_owned(),
        ok,
        detail: outcome.unwrap_or_else(|wrong| wrong),
    }
}

fn sha1_vectors(scripts: &Scripts) -> Result<String, String> {
    scripts
        .eval(include_str!("checks.js"))
        .map_err(|leaving| leaving.to_string())?;
    let mut ways = 0;
    for (text, times, expected) in VECTORS {
        let digests = scripts
            .give("check_one", text.repeat(times).into_bytes())
            .unwrap_or_default();
        let digests = String::from_utf8_lossy(&digests);
        ways = digests.lines().count();
        if let Some(wrong) = digests.lines().find(|line| !line.ends_with(expected)) {
            return Err(format!("{wrong}, not {expected}"));
        }
    }
    match scripts.failed() {
        None if ways > 0 => Ok(format!("{} vectors, {ways} ways each", VECTORS.len())),
        failed => Err(failed.unwrap_or_else(|| "no digest at all".to_owned())),
    }
}

/// Checks that a script runs, that the digest functions refuse wrong arguments, and that a path in Kotlin
/// throws an error with the reason.
fn smoke(scripts: &Scripts) -> Result<String, String> {
    let result_of = |source: &str| {
        scripts
            .eval(source)
            .unwrap_or_else(|leaving| leaving.to_string())
    };
    if result_of("6 * 7") != "42" {
        return Err(format!("6 * 7 is {}", result_of("6 * 7")));
    }
    for wrong in WRONG {
        for way in ["sha1Native", "sha1Direct", "sha1Copied"] {
            if scripts.eval(&format!("paceline.{way}({wrong})")).is_ok() {
                return Err(format!("{way}({wrong}) is accepted"));
            }
        }
    }
    let asked = result_of("NativeHasher.paths.seed.sha1(new Uint8Array(1))");
    if !asked.contains(NEEDS_KOTLIN) {
        return Err(format!("asked for Kotlin, it says: {asked}"));
    }
    Ok(format!(
        "QuickJS {}; wrong arguments throw",
        quickjs_version()
    ))
}
