//! `finality_ffi`: the check through the real shared library, beside the same check in this program, a call
//! that does nothing, and a loop that does nothing.
//!
//! The library is loaded at run time and called through pointers, as a program in another language does: no
//! compiler sees both sides. Invariant: all `unsafe` of this crate is here.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use libloading::{Library, Symbol};
use paceline_finality::BlockId;
use paceline_harness::fence::keep;
use paceline_harness::{Arm, Benchmark, Check, Context, Failure, Param, Prepared};

use crate::ids::{self, Queries};
use crate::single::EMPTY_LOOP;
use crate::subjects::Subject;

/// Beside this program, where build.sh and the agent put it.
const FILE: &str = "libpaceline_finality.so";
/// What `paceline_finality.h` of this revision says.
const ABI: u32 = 1;
const SIZES: [u64; 2] = [1000, 100_000];
const SIZE_MAX: u64 = 1_000_000;
const WEIGHT: u64 = 1;
/// Blocks of the check at the start of each launch.
const TRIED: u64 = 100;

#[repr(C)]
struct Graph {
    _opaque: [u8; 0],
}

type Ask = unsafe extern "C" fn(*const Graph, *const u8) -> i32;
type New = unsafe extern "C" fn(*const u8, u64) -> *mut Graph;
type Insert = unsafe extern "C" fn(*const Graph, *const u8, *const u8, usize, *mut u64) -> i32;
type Attest = unsafe extern "C" fn(*const Graph, *const u8, u64, *mut u64) -> i32;
type Finalise = unsafe extern "C" fn(*const Graph, *const u8, *mut u64, *mut u64) -> i32;
type Free = unsafe extern "C" fn(*mut Graph);

/// A graph behind the library's functions.
struct Foreign {
    graph: *mut Graph,
    is_final: Ask,
    nothing: Ask,
    insert: Insert,
    attest: Attest,
    finalise: Finalise,
    free: Free,
    /// Keeps the functions' code mapped.
    _library: Library,
}

impl Foreign {
    /// A chain of `blocks` blocks, all final.
    fn of(blocks: u64, seed: u64) -> Result<Self, String> {
        let path = path()?;
        // SAFETY: our own library; its initialisers are those of Rust's runtime and ask nothing.
        let library = unsafe { Library::new(&path) }.map_err(|error| format!("{FILE}: {error}"))?;
        let abi: Symbol<'_, extern "C" fn() -> u32> = symbol(&library, "paceline_finality_abi")?;
        if abi() != ABI {
            return Err(format!("{FILE} speaks ABI {}, this program {ABI}", abi()));
        }
        let new: Symbol<'_, New> = symbol(&library, "paceline_graph_new")?;
        let genesis = ids::block(seed, 0);
        let foreign = Self {
            // SAFETY: an id is 32 readable bytes.
            graph: unsafe { new(genesis.0.as_ptr(), WEIGHT) },
            is_final: *symbol(&library, "paceline_graph_is_final")?,
            nothing: *symbol(&library, "paceline_graph_nothing")?,
            insert: *symbol(&library, "paceline_graph_insert")?,
            attest: *symbol(&library, "paceline_graph_attest")?,
            finalise: *symbol(&library, "paceline_graph_finalise")?,
            free: *symbol(&library, "paceline_graph_free")?,
            _library: library,
        };
        if foreign.graph.is_null() {
            return Err(format!("{FILE} made no graph"));
        }
        (1..blocks)
            .try_for_each(|number| foreign.add(ids::block(seed, number - 1), ids::block(seed, number)))?;
        Ok(foreign)
    }

    fn add(&self, parent: BlockId, id: BlockId) -> Result<(), String> {
        let none = std::ptr::null_mut();
        let (id, parent) = (id.0.as_ptr(), parent.0.as_ptr());
        // SAFETY: the graph is ours until we are dropped, ids are 32 readable bytes, results may be null.
        let answers = unsafe {
            [
                (self.insert)(self.graph, id, parent, 1, none),
                (self.attest)(self.graph, id, WEIGHT, none),
                (self.finalise)(self.graph, id, none, none),
            ]
        };
        if answers == [0; 3] { Ok(()) } else { Err(format!("{FILE} refused a block: {answers:?}")) }
    }

    #[inline]
    fn ask(&self, function: Ask, id: &BlockId) -> i32 {
        // SAFETY: as above.
        unsafe { function(self.graph, id.0.as_ptr()) }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: nobody else has the handle; null is allowed.
        unsafe { (self.free)(self.graph) };
    }
}

fn path() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    Ok(program.with_file_name(FILE))
}

/// `T` is the function's type in `paceline_finality.h` of the ABI that is checked first.
fn symbol<'l, T>(library: &'l Library, name: &str) -> Result<Symbol<'l, T>, String> {
    // SAFETY: every caller names the type that the header declares for the function.
    unsafe { library.get(name.as_bytes()) }.map_err(|error| format!("{FILE}: {error}"))
}

/// The library has to be there: without it a part of the suite would silently be missing.
pub(crate) fn facts() -> Result<Vec<(String, String)>, Failure> {
    let missing =
        |error: String| Failure::new("native_library", format!("{error}. Build it: build.sh finality."));
    Foreign::of(1, 0).map_err(missing)?;
    Ok(vec![("library_abi".to_owned(), ABI.to_string())])
}

/// The library's answers about a small chain, and about blocks that are not in it.
pub(crate) fn answers() -> Check {
    let name = "ffi_answers".to_owned();
    match Foreign::of(TRIED, 0) {
        Err(detail) => Check { name, ok: false, detail },
        Ok(foreign) => {
            let right = |number: &u64| {
                foreign.ask(foreign.is_final, &ids::block(0, *number)) == i32::from(*number < TRIED)
            };
            let count = (0..2 * TRIED).filter(right).count() as u64;
            let detail = format!("{count} of {} answers are right", 2 * TRIED);
            Check { name, ok: count == 2 * TRIED, detail }
        }
    }
}

/// What the way through a shared library costs.
pub(crate) fn finality_ffi() -> Benchmark {
    Benchmark {
        name: "finality_ffi".to_owned(),
        arms: [EMPTY_LOOP, "empty_call", "in_process", "ffi"].map(str::to_owned).to_vec(),
        params: vec![Param::int("blocks", &SIZES, 2, SIZE_MAX)],
        metrics: vec![],
        prepare: Box::new(prepare),
    }
}

fn prepare(context: &Context<'_>) -> Result<Prepared, Failure> {
    let (blocks, seed) = (context.int("blocks"), context.seed);
    let foreign = Foreign::of(blocks, seed).map_err(|error| Failure::new("native_library", error))?;
    let foreign = Rc::new(foreign);
    let own: Rc<paceline_finality::BlockGraph> =
        Rc::new(Subject::of(&mut (0..blocks).map(|number| ids::block(seed, number)), blocks));
    let queries = Rc::new(Queries::new(blocks, false, seed));
    let asked = Rc::clone(&own);
    let (called, idle) = (Rc::clone(&foreign), Rc::clone(&foreign));
    let arms = vec![
        arm(EMPTY_LOOP, &queries, |id| keep(std::ptr::from_ref(id))),
        arm("empty_call", &queries, move |id| keep(idle.ask(idle.nothing, id))),
        arm("in_process", &queries, move |id| keep(asked.is_final(id))),
        arm("ffi", &queries, move |id| keep(called.ask(called.is_final, id))),
    ];
    Ok(Prepared {
        arms,
        items_per_iteration: Some(1),
        bytes_per_iteration: None,
        verify: Box::new(move || {
            let wrong = |id: &&BlockId| !own.is_final(id) || foreign.ask(foreign.is_final, id) != 1;
            let wrong = queries.iter().filter(wrong).count();
            let detail = format!("{wrong} final blocks were not known to be");
            vec![Check { name: "arms_agree".to_owned(), ok: wrong == 0, detail }]
        }),
    })
}

fn arm(name: &str, queries: &Rc<Queries>, mut ask: impl FnMut(&BlockId) + 'static) -> Arm {
    let (queries, position) = (Rc::clone(queries), Cell::new(0));
    Arm::looped(name, move |iterations| queries.each(&position, iterations, &mut ask))
}
