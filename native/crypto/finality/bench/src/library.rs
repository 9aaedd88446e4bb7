//! Measures `finality_ffi`: the check through the shared library, the same check in this program,
//! an empty call, and an empty loop.
//!
//! The library is loaded at run time and called through pointers, as a program in another language
//! does, so no compiler sees both sides. A static program for devices has the functions linked in
//! and uses them for checks only; its arms are unavailable, with the reason.

use std::cell::Cell;
use std::rc::Rc;

use paceline_finality::BlockId;
use paceline_harness::fence::keep;
use paceline_harness::{Arm, Benchmark, Check, Context, Failure, Param, Prepared};

use crate::functions::{self, FILE, Graph};
use crate::ids::{self, Queries};
use crate::single::EMPTY_LOOP;
use crate::subjects::Subject;

/// The ABI version in this revision's `paceline_finality.h`.
const ABI: u32 = 1;
const SIZES: [u64; 2] = [1000, 100_000];
const SIZE_MAX: u64 = 1_000_000;
const WEIGHT: u64 = 1;
/// The number of blocks that the check at the start of each launch uses.
const TRIED: u64 = 100;

// The types of the functions in `paceline_finality.h`.
pub(crate) type Ask = unsafe extern "C" fn(*const Graph, *const u8) -> i32;
pub(crate) type New = unsafe extern "C" fn(*const u8, u64) -> *mut Graph;
pub(crate) type Insert =
    unsafe extern "C" fn(*const Graph, *const u8, *const u8, usize, *mut u64) -> i32;
pub(crate) type Attest = unsafe extern "C" fn(*const Graph, *const u8, u64, *mut u64) -> i32;
pub(crate) type Finalise = unsafe extern "C" fn(*const Graph, *const u8, *mut u64, *mut u64) -> i32;
pub(crate) type Free = unsafe extern "C" fn(*mut Graph);

/// The library's functions, as `paceline_finality.h` declares them. `_held` keeps them mapped.
pub(crate) struct Functions<H> {
    pub(crate) abi: u32,
    pub(crate) new: New,
    pub(crate) is_final: Ask,
    pub(crate) nothing: Ask,
    pub(crate) insert: Insert,
    pub(crate) attest: Attest,
    pub(crate) finalise: Finalise,
    pub(crate) free: Free,
    pub(crate) _held: H,
}

/// A graph that only the library's functions can access.
struct Foreign {
    graph: *mut Graph,
    functions: Functions<functions::Held>,
}

impl Foreign {
    /// Builds a chain of `blocks` blocks, all final.
    fn of(blocks: u64, seed: u64) -> Result<Self, String> {
        let functions = functions::find()?;
        if functions.abi != ABI {
            return Err(format!(
                "{FILE} speaks ABI {}, this program {ABI}",
                functions.abi
            ));
        }
        let genesis = ids::block(seed, 0);
        // SAFETY: an id is 32 readable bytes.
        let graph = unsafe { (functions.new)(genesis.0.as_ptr(), WEIGHT) };
        let foreign = Self { graph, functions };
        if foreign.graph.is_null() {
            return Err(format!("{FILE} made no graph"));
        }
        (1..blocks).try_for_each(|number| {
            foreign.add(ids::block(seed, number - 1), ids::block(seed, number))
        })?;
        Ok(foreign)
    }

    fn add(&self, parent: BlockId, id: BlockId) -> Result<(), String> {
        let none = std::ptr::null_mut();
        let (id, parent) = (id.0.as_ptr(), parent.0.as_ptr());
        // SAFETY: the graph is ours until we are dropped, ids are 32 readable bytes, results may be null.
        let answers = unsafe {
            [
                (self.functions.insert)(self.graph, id, parent, 1, none),
                (self.functions.attest)(self.graph, id, WEIGHT, none),
                (self.functions.finalise)(self.graph, id, none, none),
            ]
        };
        if answers == [0; 3] {
            Ok(())
        } else {
            Err(format!("{FILE} refused a block: {answers:?}"))
        }
    }

    #[inline]
    fn ask(&self, function: Ask, id: &BlockId) -> i32 {
        // SAFETY: the graph is ours until we are dropped, and an id is 32 readable bytes.
        unsafe { function(self.graph, id.0.as_ptr()) }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: nobody else has the handle; null is allowed.
        unsafe { (self.functions.free)(self.graph) };
    }
}

/// Returns facts about the library. Fails without it, because part of the suite would be missing.
pub(crate) fn facts() -> Result<Vec<(String, String)>, Failure> {
    let missing = |error: String| {
        Failure::new(
            "native_library",
            format!("{error}. Build it: build.sh finality."),
        )
    };
    Foreign::of(1, 0).map_err(missing)?;
    let abi = ("library_abi".to_owned(), ABI.to_string());
    let away = functions::AWAY.map(|reason| ("library".to_owned(), reason.to_owned()));
    Ok([abi].into_iter().chain(away).collect())
}

/// Checks the library's answers about a small chain, and about blocks that are not in it.
pub(crate) fn answers() -> Check {
    let name = "ffi_answers".to_owned();
    match Foreign::of(TRIED, 0) {
        Err(detail) => Check {
            name,
            ok: false,
            detail,
        },
        Ok(foreign) => {
            let right = |number: &u64| {
                foreign.ask(foreign.functions.is_final, &ids::block(0, *number))
                    == i32::from(*number < TRIED)
            };
            let count = (0..2 * TRIED).filter(right).count() as u64;
            let detail = format!("{count} of {} answers are right", 2 * TRIED);
            Check {
                name,
                ok: count == 2 * TRIED,
                detail,
            }
        }
    }
}

/// Returns the benchmark of the cost of calling through a shared library.
pub(crate) fn finality_ffi() -> Benchmark {
    Benchmark {
        name: "finality_ffi".to_owned(),
        arms: [EMPTY_LOOP, "empty_call", "in_process", "ffi"]
            .map(str::to_owned)
            .to_vec(),
        params: vec![Param::int("blocks", &SIZES, 2, SIZE_MAX)],
        metrics: vec![],
        prepare: Box::new(prepare),
    }
}

fn prepare(context: &Context<'_>) -> Result<Prepared, Failure> {
    let (blocks, seed) = (context.int("blocks"), context.seed);
    let foreign =
        Foreign::of(blocks, seed).map_err(|error| Failure::new("native_library", error))?;
    let foreign = Rc::new(foreign);
    let own: Rc<paceline_finality::BlockGraph> = Rc::new(Subject::of(
        &mut (0..blocks).map(|number| ids::block(seed, number)),
        blocks,
    ));
    let queries = Rc::new(Queries::new(blocks, false, seed));
    let asked = Rc::clone(&own);
    let (called, idle) = (Rc::clone(&foreign), Rc::clone(&foreign));
    let arms = vec![
        arm(EMPTY_LOOP, &queries, |id| keep(std::ptr::from_ref(id))),
        through("empty_call", &queries, move |id| {
            keep(idle.ask(idle.functions.nothing, id));
        }),
        arm("in_process", &queries, move |id| keep(asked.is_final(id))),
        through("ffi", &queries, move |id| {
            keep(called.ask(called.functions.is_final, id));
        }),
    ];
    Ok(Prepared {
        arms,
        items_per_iteration: Some(1),
        bytes_per_iteration: None,
        verify: Box::new(move || {
            let wrong = |id: &&BlockId| {
                !own.is_final(id) || foreign.ask(foreign.functions.is_final, id) != 1
            };
            let wrong = queries.iter().filter(wrong).count();
            let detail = format!("{wrong} final blocks were not known to be");
            vec![Check {
                name: "arms_agree".to_owned(),
                ok: wrong == 0,
                detail,
            }]
        }),
    })
}

fn arm(name: &str, queries: &Rc<Queries>, mut ask: impl FnMut(&BlockId) + 'static) -> Arm {
    let (queries, position) = (Rc::clone(queries), Cell::new(0));
    Arm::looped(name, move |iterations| {
        queries.each(&position, iterations, &mut ask);
    })
}

/// Returns an arm that calls the library; it is unavailable where none is loaded.
fn through(name: &str, queries: &Rc<Queries>, ask: impl FnMut(&BlockId) + 'static) -> Arm {
    functions::AWAY.map_or_else(
        || arm(name, queries, ask),
        |reason| Arm::unavailable(name, reason),
    )
}
