//! `sha256_batch` and `sha1_batch`: one arm per engine, libcrypto as the reference.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

use paceline_harness::{Arm, Benchmark, Check, Context, Param, Prepared};
use paceline_hashing_core::{Algorithm, Choice, Engine};

use crate::inputs::Messages;
use crate::openssl::LibCrypto;

const OPENSSL: &str = "openssl";
const BEST: &str = "best";
/// A larger batch would test memory instead.
const BATCH_MAX: u64 = 100_000;
/// The longest small message.
const MESSAGE_MAX: u64 = 4096;
/// Buffers in one call; twice the widest kernel's lanes is more than any caller here has.
const BUFFERS_MAX: u64 = 32;
/// The largest piece: 16 MiB, so that 32 of them fit any machine's memory.
const PIECE_MAX: u64 = 1 << 24;

/// Small messages one after the other, as in a ledger.
pub(crate) fn sha256_batch() -> Benchmark {
    Benchmark {
        name: "sha256_batch".to_owned(),
        arms: arm_names(),
        params: vec![
            Param::int("batch", &[1000], 1, BATCH_MAX),
            Param::int("message", &[32, 64, 150, 256, 1024], 0, MESSAGE_MAX),
        ],
        metrics: vec![],
        prepare: Box::new(|context| {
            let messages =
                Messages::batch(context.int("batch"), context.int("message"), context.seed);
            Ok(prepare(Algorithm::Sha256, messages))
        }),
    }
}

/// Large buffers anywhere in memory, as in a download.
pub(crate) fn sha1_batch() -> Benchmark {
    Benchmark {
        name: "sha1_batch".to_owned(),
        arms: arm_names(),
        params: vec![
            Param::int("pieces", &[8, 16], 1, BUFFERS_MAX),
            Param::int("bytes", &[1 << 20], 1, PIECE_MAX),
        ],
        metrics: vec![],
        prepare: Box::new(|context: &Context<'_>| {
            let messages =
                Messages::scattered(context.int("pieces"), context.int("bytes"), context.seed);
            Ok(prepare(Algorithm::Sha1, messages))
        }),
    }
}

fn arm_names() -> Vec<String> {
    let engines = Engine::ALL.iter().map(|engine| engine.name());
    [OPENSSL]
        .into_iter()
        .chain(engines)
        .chain([BEST])
        .map(str::to_owned)
        .collect()
}

/// The input and output of an arm.
struct Group {
    algorithm: Algorithm,
    messages: Messages,
    digests: RefCell<Vec<u8>>,
}

fn prepare(algorithm: Algorithm, messages: Messages) -> Prepared {
    let count = messages.count();
    let (items, bytes) = (count as u64, messages.total_bytes());
    let digests = RefCell::new(vec![0; count * algorithm.digest_bytes()]);
    let group = Rc::new(Group {
        algorithm,
        messages,
        digests,
    });
    let mut arms = vec![openssl_arm(&group)];
    arms.extend(Engine::ALL.iter().map(|engine| engine_arm(&group, *engine)));
    arms.push(core_arm(&group, BEST, Choice::Best));
    Prepared {
        arms,
        items_per_iteration: Some(items),
        bytes_per_iteration: Some(bytes),
        verify: Box::new(move || vec![engines_agree(&group)]),
    }
}

fn engine_arm(group: &Rc<Group>, engine: Engine) -> Arm {
    if engine.is_available() {
        return core_arm(group, engine.name(), Choice::Only(engine));
    }
    Arm::unavailable(engine.name(), format!("needs {}", engine.requires()))
}

fn core_arm(group: &Rc<Group>, name: &str, choice: Choice) -> Arm {
    let group = Rc::clone(group);
    Arm::counted(name, group.messages.count(), move || {
        let mut digests = group.digests.borrow_mut();
        black_box(&group.messages)
            .digest(group.algorithm, choice, &mut digests)
            .is_ok()
    })
}

fn openssl_arm(group: &Rc<Group>) -> Arm {
    let library = match LibCrypto::load() {
        Ok(library) => library,
        Err(reason) => return Arm::unavailable(OPENSSL, reason),
    };
    let group = Rc::clone(group);
    Arm::counted(OPENSSL, group.messages.count(), move || {
        let mut digests = group.digests.borrow_mut();
        let places = digests.chunks_exact_mut(group.algorithm.digest_bytes());
        for (message, digest) in black_box(&group.messages).iter().zip(places) {
            library.digest(group.algorithm, message, digest);
        }
    })
}

/// Every engine and libcrypto over this group's messages, against the scalar twin.
fn engines_agree(group: &Group) -> Check {
    let size = group.algorithm.digest_bytes();
    let mut twin = vec![0; group.digests.borrow().len()];
    let mut wrong = Vec::new();
    if let Err(error) =
        group
            .messages
            .digest(group.algorithm, Choice::Only(Engine::Scalar), &mut twin)
    {
        wrong.push(format!("scalar: {error}"));
    }
    let engines = Engine::available()
        .iter()
        .map(|engine| (engine.name(), Choice::Only(*engine)));
    for (name, choice) in engines.chain([(BEST, Choice::Best)]) {
        let mut digests = vec![0; twin.len()];
        match group.messages.digest(group.algorithm, choice, &mut digests) {
            Ok(_) if digests == twin => {}
            Ok(_) => wrong.push(format!("{name}: other digests than scalar")),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    if let Ok(library) = LibCrypto::load() {
        let mut digest = vec![0; size];
        for (message, expected) in group.messages.iter().zip(twin.chunks_exact(size)) {
            library.digest(group.algorithm, message, &mut digest);
            if digest != expected {
                wrong.push("openssl: another digest than scalar".to_owned());
                break;
            }
        }
    }
    let ok = wrong.is_empty();
    let all = format!(
        "{} of {} messages",
        group.algorithm.name(),
        group.messages.count()
    );
    Check {
        name: "engines_agree".to_owned(),
        ok,
        detail: if ok { all } else { wrong.join("; ") },
    }
}
