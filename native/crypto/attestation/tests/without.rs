//! Tests which engines a process uses: one that is told to do without some behaves as on a CPU that lacks
//! them, and engines of our own verify only if the process names them.

use std::process::Command;

use paceline_attestation::engine::{self, PREFERRED, WITHOUT};
use paceline_attestation::{
    Domain, SigningKey, Verified, VerifyingKey, generate_attestation, verify_attestation,
    verify_batch,
};

const MARK: &str = "chosen: ";

/// Returns the engines that sign, verify one signature, and verify a batch in a new process that prefers `preferred`
/// and does without `without`.
fn chosen(preferred: &str, without: &str) -> String {
    let program = std::env::current_exe().expect("a test is a program");
    let inner = [
        "--exact",
        "what_is_chosen_is_what_results_report",
        "--nocapture",
    ];
    let done = Command::new(program)
        .args(inner)
        .env(WITHOUT, without)
        .env(PREFERRED, preferred)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    let line = said.lines().find_map(|line| line.split_once(MARK));
    line.expect("it says what was chosen").1.to_owned()
}

#[test]
fn what_is_chosen_is_what_results_report() {
    let key = SigningKey::from_seed(&[7; 32]).expect("an engine signs");
    let about = Domain::new("poi.block").expect("a label");
    let made = generate_attestation(&key, &about, b"block 7").expect("short enough");
    let single = engine::single().name();
    for engine in [engine::first().name(), single] {
        assert_eq!(
            verify_attestation(key.verifying_key(), &about, &made),
            Ok(Verified { engine })
        );
    }
    let new = VerifyingKey::from_bytes(*key.verifying_key().as_bytes()).expect("a point");
    let alone = made.item(&new, &about).expect("its own key");
    if engine::batching().name() == single {
        let said = [verify_batch(&[alone]).engine, verify_batch(&[alone]).engine];
        assert_eq!(
            said,
            [engine::first().name(), single],
            "a batch of one is one verification"
        );
    }
    let item = made.item(key.verifying_key(), &about).expect("its own key");
    let batch = verify_batch(&[item; 20]);
    assert!(batch.all_good());
    assert_eq!(batch.engine, engine::batching().name());
    eprintln!("{MARK}{} {single} {}", key.engine(), batch.engine);
}

fn signer() -> &'static str {
    if cfg!(target_env = "musl") {
        "portable"
    } else {
        "aws_lc"
    }
}

#[test]
fn libraries_verify_unless_an_engine_of_our_own_is_named() {
    let signs = signer();
    for preferred in ["", "no such engine"] {
        assert_eq!(chosen(preferred, ""), format!("{signs} portable {signs}"));
    }
    assert_eq!(chosen("portable", ""), format!("{signs} portable portable"));
    let has_vectors = engine::by_name("ifma").is_some();
    let lanes = if has_vectors {
        "ifma ifma".to_owned()
    } else {
        format!("portable {signs}")
    };
    assert_eq!(chosen("ifma", ""), format!("{signs} {lanes}"));
}

#[test]
fn without_vectors_a_library_takes_over_and_without_it_the_portable_one() {
    let signs = signer();
    assert_eq!(chosen("ifma", "ifma"), format!("{signs} portable {signs}"));
    assert_eq!(
        chosen("ifma", "ifma,aws_lc portable"),
        "portable portable portable"
    );
}
