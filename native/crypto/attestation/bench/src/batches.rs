//! Batches: every engine and peer over the same signatures, by size, number of keys, parsing and
//! threads.

use std::hint::black_box;
use std::rc::Rc;
use std::thread;

use paceline_attestation::engine::{batching, by_name};
use paceline_attestation::{Item, VerifyingKey, verify_batch, verify_batch_with};
use paceline_harness::{Arm, Benchmark, Check, Context, Failure, Param, Prepared};

use crate::inputs::Inputs;
use crate::peers::{self, DALEK, DALEK_IFMA, OURS, ZEBRA, ZEBRA_IFMA, missing};
use crate::vectorised;

/// Message bytes, as the seed's first size.
const MESSAGE: usize = 32;
const SIZES: [u64; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];
const OWN: [&str; 4] = ["portable", "aws_lc", "twin", "ifma"];

pub(crate) fn params() -> Vec<Param> {
    vec![
        Param::int("batch", &SIZES, 1, 65536),
        Param::words("keys", &["1", "16", "all"]),
    ]
}

pub(crate) fn inputs(context: &Context<'_>) -> Rc<Inputs> {
    let count = usize::try_from(context.int("batch")).unwrap_or(1);
    let keys = context.text("keys").parse().unwrap_or(count).min(count);
    Rc::new(Inputs::new(count, keys, MESSAGE, context.seed))
}

pub(crate) fn prepared(arms: Vec<Arm>, inputs: Rc<Inputs>) -> Prepared {
    Prepared {
        arms,
        items_per_iteration: Some(inputs.messages.len() as u64),
        bytes_per_iteration: Some((inputs.messages.len() * MESSAGE) as u64),
        verify: Box::new(move || {
            let verdict = verify_batch(&inputs.items());
            let ok = verdict.all_good();
            vec![Check {
                name: "all_good".to_owned(),
                ok,
                detail: verdict.engine.to_owned(),
            }]
        }),
    }
}

/// Good batches: the signatures' keys are parsed before, but for zebra's arms and `parsing`, which parse each
/// time.
pub(crate) fn batch() -> Benchmark {
    let arms = [
        DALEK, ZEBRA, DALEK_IFMA, ZEBRA_IFMA, "portable", "aws_lc", "twin", "ifma", OURS, "parsing",
    ];
    Benchmark {
        name: "batch".to_owned(),
        arms: arms.map(str::to_owned).to_vec(),
        params: params(),
        metrics: vec![],
        prepare: Box::new(|context| {
            let inputs = inputs(context);
            let (count, one) = (inputs.messages.len(), peers::of(&inputs)?);
            let two = Rc::clone(&one);
            let mut arms = vec![
                Arm::counted(DALEK, count, move || one.dalek_batch()),
                Arm::counted(ZEBRA, count, move || two.zebra_batch()),
            ];
            let second = [
                (DALEK_IFMA, "paceline_peers_dalek_batch"),
                (ZEBRA_IFMA, "paceline_peers_zebra_batch"),
            ];
            arms.extend(vectorised::arms(&inputs, count, second)?);
            arms.extend(OWN.map(|name| own(name, &inputs)));
            let chosen = Rc::clone(&inputs);
            arms.push(Arm::counted(OURS, count, move || {
                verify_batch(black_box(&chosen.items())).all_good()
            }));
            arms.push(parsing(&inputs));
            Ok(prepared(arms, inputs))
        }),
    }
}

fn own(name: &'static str, inputs: &Rc<Inputs>) -> Arm {
    let Some(engine) = by_name(name) else {
        return Arm::unavailable(name, missing(name));
    };
    let inputs = Rc::clone(inputs);
    Arm::counted(name, inputs.messages.len(), move || {
        verify_batch_with(engine, black_box(&inputs.items())).all_good()
    })
}

/// The best engine from keys as bytes: every key is parsed again in every batch.
fn parsing(inputs: &Rc<Inputs>) -> Arm {
    let inputs = Rc::clone(inputs);
    Arm::counted("parsing", inputs.messages.len(), move || {
        let parse = |key: &paceline_attestation::SigningKey| {
            VerifyingKey::from_bytes(black_box(*key.verifying_key().as_bytes()))
        };
        let Ok(keys) = inputs.keys.iter().map(parse).collect::<Result<Vec<_>, _>>() else {
            return false;
        };
        let mut items = inputs.items();
        items
            .iter_mut()
            .enumerate()
            .for_each(|(index, item)| item.key = &keys[index % keys.len()]);
        verify_batch(&items).all_good()
    })
}

/// One bad signature among them, found and named, beside the all-good batch.
pub(crate) fn batch_one_bad() -> Benchmark {
    let arms = ["all_good", "one_bad"];
    Benchmark {
        name: "batch_one_bad".to_owned(),
        arms: arms.map(str::to_owned).to_vec(),
        params: vec![
            Param::int("batch", &[256], 1, 65536),
            Param::words("keys", &["1", "16", "all"]),
        ],
        metrics: vec![],
        prepare: Box::new(move |context| {
            let inputs = inputs(context);
            let bad = usize::try_from(context.seed).unwrap_or(0) % inputs.messages.len();
            let (good, spoilt) = (Rc::clone(&inputs), inputs.spoilt(bad));
            let count = good.messages.len();
            let arms = vec![
                Arm::counted(arms[0], count, move || {
                    verify_batch(black_box(&good.items())).all_good()
                }),
                Arm::counted(arms[1], count, move || {
                    verify_batch(black_box(&spoilt.items())).bad == [bad]
                }),
            ];
            Ok(prepared(arms, inputs))
        }),
    }
}

/// A batch on one thread, and cut in two for two threads.
pub(crate) fn batch_threads() -> Benchmark {
    let arms = ["one_thread", "two_threads"];
    Benchmark {
        name: "batch_threads".to_owned(),
        arms: arms.map(str::to_owned).to_vec(),
        params: vec![
            Param::int("batch", &[512, 1024], 2, 65536),
            Param::words("keys", &["16", "all"]),
        ],
        metrics: vec![],
        prepare: Box::new(move |context: &Context<'_>| -> Result<Prepared, Failure> {
            let inputs = inputs(context);
            let arms_made = threads(arms, &inputs).into();
            Ok(prepared(arms_made, inputs))
        }),
    }
}

/// The engine for batches on one thread, and on two, each with a half.
pub(crate) fn threads(names: [&str; 2], inputs: &Rc<Inputs>) -> [Arm; 2] {
    let (whole, halved, count) = (Rc::clone(inputs), Rc::clone(inputs), inputs.messages.len());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    [
        Arm::counted(names[0], count, move || {
            verify_batch(black_box(&whole.items())).all_good()
        }),
        if cores < 2 {
            Arm::unavailable(names[1], "needs two cores")
        } else {
            Arm::counted(names[1], count, move || halves(black_box(&halved.items())))
        },
    ]
}

fn halves(items: &[Item<'_>]) -> bool {
    let (left, right) = items.split_at(items.len() / 2);
    thread::scope(|scope| {
        let other = scope.spawn(|| verify_batch_with(batching(), right).all_good());
        verify_batch_with(batching(), left).all_good() & other.join().unwrap_or(false)
    })
}
