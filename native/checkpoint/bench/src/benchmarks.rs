//! The benchmarks of the workload with their params, as `suite.toml` declares them.
//!
//! Each runs on every filesystem of the param `filesystem`; where one cannot be made, its arms are
//! reported as unavailable with the reason.

use std::rc::Rc;

use paceline_harness::{Benchmark, Context, Direction, Failure, Metric, Param, Unit};

use crate::arms::{self, ArmKind, Plan};
use crate::band_directory::{self, Shape};
use crate::scenario::{self, Scenario};
use crate::workspace::{HERE, Workspace};
use crate::{detect, locality, rollback, stall, volume};

/// The checkpoint, its phases as the original measurement reported them, and its bytes.
const PHASES: &[&str] = &[
    "durable", "detect", "hash", "clone", "manifest", "sync", "read", "written",
];
/// Space of a filesystem besides bands: its own structures, and the logs of stores.
const ROOM_BYTES: u64 = 1 << 30;

/// Arms of `tools` that keep whole bands.
const WHOLE: u64 = 6;

/// The settings of a benchmark for one set of params.
struct PointPlan {
    scenario: Scenario,
    shape: Shape,
    cold: bool,
    age: u64,
    epochs: Option<u64>,
    /// Bytes that rounds leave on the disk.
    more: u64,
}

impl PointPlan {
    fn new(scenario: Scenario, shape: Shape) -> Self {
        Self {
            scenario,
            shape,
            cold: false,
            age: 0,
            epochs: None,
            more: 0,
        }
    }
}

pub(crate) fn all(workspace: &Rc<Workspace>) -> Vec<Benchmark> {
    vec![
        checkpoint(workspace),
        scaling(workspace),
        cold(workspace),
        dirty(workspace),
        tools(workspace),
        ageing(workspace),
        growth(workspace),
        simple(
            workspace,
            "detect",
            &detect::ARMS,
            bands(),
            &[],
            detect::prepare,
        ),
        simple(
            workspace,
            "stall",
            &stall::ARMS,
            band_kib(),
            &stall::METRICS,
            stall::prepare,
        ),
        simple(
            workspace,
            "rollback",
            &rollback::ARMS,
            band_kib(),
            &rollback::METRICS,
            rollback::prepare,
        ),
        locality::benchmark(workspace, scenarios(&scenario::ALL)),
    ]
}

/// The original measurement's scenarios at their size.
fn checkpoint(workspace: &Rc<Workspace>) -> Benchmark {
    let params = vec![scenarios(&scenario::ALL), Param::int("bands", &[87], 8, 87)];
    of_arms(
        workspace,
        "checkpoint",
        arms::ALL,
        params,
        PHASES,
        |context| Ok(PointPlan::new(named(context)?, seeds(context.int("bands")))),
    )
}

/// The same change of three bands in ever larger directories. Unchanged bands are holes.
fn scaling(workspace: &Rc<Workspace>) -> Benchmark {
    let params = vec![scenarios(&scenario::ALL[..1]), bands()];
    of_arms(
        workspace,
        "scaling",
        arms::SPARSE,
        params,
        PHASES,
        |context| Ok(PointPlan::new(named(context)?, seeds(context.int("bands")))),
    )
}

/// The smallest change, with the bands not in memory.
fn cold(workspace: &Rc<Workspace>) -> Benchmark {
    let params = vec![
        scenarios(&scenario::ALL[..1]),
        Param::int("bands", &[87], 8, 87),
    ];
    of_arms(workspace, "cold", arms::COLD, params, PHASES, |context| {
        Ok(PointPlan {
            cold: true,
            ..PointPlan::new(named(context)?, seeds(context.int("bands")))
        })
    })
}

/// More changed bands, smaller ones, more writes to each.
fn dirty(workspace: &Rc<Workspace>) -> Benchmark {
    let params = vec![
        Param::int("dirty", &[1, 4, 16, 64], 0, 64),
        Param::int("writes", &[16], 1, 2048),
        Param::int("band_kib", &[1024], 64, 8192),
    ];
    of_arms(
        workspace,
        "dirty",
        arms::SPARSE,
        params,
        PHASES,
        |context| {
            let (dirty_bands, writes_per_band) = (context.int("dirty"), context.int("writes"));
            let scenario = Scenario {
                name: "dirty",
                dirty_bands,
                writes_per_band,
            };
            let band_bytes = context.int("band_kib") << 10;
            Ok(PointPlan::new(
                scenario,
                Shape {
                    bands: 87,
                    band_bytes,
                    hot: 64,
                    sparse: true,
                },
            ))
        },
    )
}

/// One changed band, by commonly used tools. Few bands change, so that a tool's copy can be read
/// back.
fn tools(workspace: &Rc<Workspace>) -> Benchmark {
    let params = vec![Param::int("bands", &[87], 8, 87), band_kib()];
    of_arms(
        workspace,
        "tools",
        arms::TOOLS,
        params,
        &["durable"],
        |context| {
            let scenario = Scenario {
                name: "one_band",
                dirty_bands: 1,
                writes_per_band: 16,
            };
            let shape = Shape {
                hot: 4,
                ..seeds(context.int("bands"))
            };
            let band_bytes = context.int("band_kib") << 10;
            // A tool keeps the whole band each time. One epoch per sample, because the fastest
            // arm's loop count would be too long for tools.
            let copies = WHOLE * (rounds_of(context) + 5) * band_bytes;
            let asked = PointPlan::new(
                scenario,
                Shape {
                    band_bytes,
                    ..shape
                },
            );
            Ok(PointPlan {
                epochs: Some(1),
                more: copies,
                ..asked
            })
        },
    )
}

/// Epochs of random writes to one band: the first ones and, after `age` epochs, later ones. A round
/// is an epoch.
fn ageing(workspace: &Rc<Workspace>) -> Benchmark {
    let params = vec![Param::int("age", &[0, 270], 0, 10_000), band_kib()];
    of_arms(
        workspace,
        "ageing",
        arms::AGEING,
        params,
        &["durable"],
        |context| {
            let scenario = Scenario {
                name: "one_band",
                dirty_bands: 1,
                writes_per_band: 16,
            };
            let band_bytes = context.int("band_kib") << 10;
            let asked = PointPlan::new(
                scenario,
                Shape {
                    hot: 1,
                    band_bytes,
                    ..seeds(8)
                },
            );
            Ok(PointPlan {
                age: context.int("age"),
                epochs: Some(1),
                ..asked
            })
        },
    )
}

/// Epochs after which a store's space is measured.
const OLD: u64 = 1000;

/// What a thousand epochs leave on the disk: all rounds together, however many are requested.
fn growth(workspace: &Rc<Workspace>) -> Benchmark {
    of_arms(
        workspace,
        "growth",
        arms::GROWTH,
        vec![band_kib()],
        &["durable", "disk"],
        |context| {
            let shape = Shape {
                band_bytes: context.int("band_kib") << 10,
                ..seeds(band_directory::HOT)
            };
            let epochs = OLD.div_ceil(rounds_of(context));
            Ok(PointPlan {
                epochs: Some(epochs),
                ..PointPlan::new(scenario::ALL[0], shape)
            })
        },
    )
}

/// Measured and warm-up rounds, unless the command line gives them.
fn rounds_of(context: &Context<'_>) -> u64 {
    context.rounds + context.rounds.div_ceil(10).max(5)
}

fn bands() -> Param {
    Param::int("bands", &[87, 870, 8700], 8, 100_000)
}

fn band_kib() -> Param {
    Param::int("band_kib", &[band_directory::BAND_BYTES >> 10], 64, 8192)
}

/// The directory of the bands.
fn filesystem() -> Param {
    Param::words("filesystem", &[&[HERE], &volume::KINDS[..]].concat())
}

fn scenarios(all: &[Scenario]) -> Param {
    let names: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
    Param::words("scenario", &names)
}

fn named(context: &Context<'_>) -> Result<Scenario, Failure> {
    let scenario = scenario::ALL
        .iter()
        .find(|scenario| scenario.name == context.text("scenario"));
    scenario
        .copied()
        .ok_or_else(|| Failure::new("usage", "no such scenario"))
}

/// The given number of bands of the original product's size.
fn seeds(bands: u64) -> Shape {
    Shape {
        bands,
        band_bytes: band_directory::BAND_BYTES,
        hot: band_directory::HOT,
        sparse: true,
    }
}

fn declared((name, unit, direction): &(&str, Unit, Direction)) -> Metric {
    Metric {
        name: (*name).to_owned(),
        unit: *unit,
        direction: *direction,
    }
}

/// Bytes that the arms' bands, clones, bases and logs may take together, with what epochs leave of
/// bands: where nothing is overwritten in place, an old extent stays while any of it is used, so
/// writes to a band and its clone take as many bytes again, until every page was written once.
/// a band and its clone comes to their bytes, until every page was written once.
fn room(kinds: &[ArmKind], shape: &Shape, scenario: &Scenario, epochs: u64) -> u64 {
    let hot = shape.hot.min(shape.bands) * shape.band_bytes;
    let full = u64::from(kinds.contains(&ArmKind::FullSha256)) * shape.bands * shape.band_bytes;
    let written = epochs * scenario.dirty_bands * scenario.writes_per_band * scenario::WRITE_BYTES;
    ROOM_BYTES + full + kinds.len() as u64 * (3 * hot + written.min(2 * hot))
}

/// A benchmark whose arms make changes durable.
fn of_arms(
    workspace: &Rc<Workspace>,
    name: &str,
    kinds: &'static [ArmKind],
    mut params: Vec<Param>,
    metrics: &'static [&'static str],
    ask: impl Fn(&Context<'_>) -> Result<PointPlan, Failure> + 'static,
) -> Benchmark {
    params.push(filesystem());
    let unit = |name: &str| match name {
        "read" | "written" | "disk" => Unit::Bytes,
        _ => Unit::Nanoseconds,
    };
    let workspace = Rc::clone(workspace);
    Benchmark {
        name: name.to_owned(),
        arms: kinds.iter().map(|arm| arm.name().to_owned()).collect(),
        params,
        metrics: metrics
            .iter()
            .map(|name| declared(&(name, unit(name), Direction::Lower)))
            .collect(),
        prepare: Box::new(move |context| {
            let PointPlan {
                scenario,
                shape,
                cold,
                age,
                epochs,
                more,
            } = ask(context)?;
            let in_all = age + epochs.map_or(0, |epochs| epochs * rounds_of(context));
            let bytes = room(kinds, &shape, &scenario, in_all) + more;
            let filesystem = context.text("filesystem");
            let place = workspace.place(filesystem, "bands", bytes);
            // Made when it is needed, because it may replace an existing one.
            let mut btrfs = None;
            let lies = |kind: ArmKind| match kind {
                ArmKind::Other(tool) => {
                    tool.program()?;
                    if !tool.needs_btrfs() || filesystem == "btrfs" {
                        return place.clone();
                    }
                    btrfs
                        .get_or_insert_with(|| workspace.place("btrfs", "snapshots", ROOM_BYTES))
                        .clone()
                }
                _ => place.clone(),
            };
            arms::prepare(
                &Plan {
                    kinds,
                    shape,
                    scenario,
                    cold,
                    age,
                    epochs,
                    metrics,
                    seed: context.seed,
                },
                lies,
            )
        }),
    }
}

/// A benchmark whose arms are no strategies.
fn simple<const N: usize>(
    workspace: &Rc<Workspace>,
    name: &str,
    arms: &[&str; N],
    param: Param,
    metrics: &[(&str, Unit, Direction)],
    prepare: impl Fn(&Rc<Workspace>, &Context<'_>) -> Result<paceline_harness::Prepared, Failure>
    + 'static,
) -> Benchmark {
    let workspace = Rc::clone(workspace);
    Benchmark {
        name: name.to_owned(),
        arms: arms.iter().map(|arm| (*arm).to_owned()).collect(),
        params: vec![param, filesystem()],
        metrics: metrics.iter().map(declared).collect(),
        prepare: Box::new(move |context| prepare(&workspace, context)),
    }
}
