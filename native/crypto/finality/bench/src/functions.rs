//! The functions of the shared library, found by name when a launch starts.
//!
//! Static programs for devices load nothing: `functions_linked.rs` takes its place there.

use std::path::PathBuf;

use libloading::{Library, Symbol};

use crate::library::{Ask, Attest, Finalise, Free, Functions, Insert, New};

/// Beside this program, where build.sh and the agent put it.
pub(crate) const FILE: &str = "libpaceline_finality.so";
/// Why nothing is loaded: it is.
pub(crate) const AWAY: Option<&str> = None;
/// What keeps the functions' code mapped.
pub(crate) type Held = Library;

/// The library's own.
#[repr(C)]
pub(crate) struct Graph {
    _opaque: [u8; 0],
}

/// Loads the library.
pub(crate) fn find() -> Result<Functions<Held>, String> {
    let path = path()?;
    // SAFETY: our own library; its initialisers are those of Rust's runtime and ask nothing.
    let library = unsafe { Library::new(&path) }.map_err(|error| format!("{FILE}: {error}"))?;
    let abi: Symbol<'_, extern "C" fn() -> u32> = symbol(&library, "paceline_finality_abi")?;
    Ok(Functions {
        abi: abi(),
        new: *symbol::<New>(&library, "paceline_graph_new")?,
        is_final: *symbol::<Ask>(&library, "paceline_graph_is_final")?,
        nothing: *symbol::<Ask>(&library, "paceline_graph_nothing")?,
        insert: *symbol::<Insert>(&library, "paceline_graph_insert")?,
        attest: *symbol::<Attest>(&library, "paceline_graph_attest")?,
        finalise: *symbol::<Finalise>(&library, "paceline_graph_finalise")?,
        free: *symbol::<Free>(&library, "paceline_graph_free")?,
        _held: library,
    })
}

fn path() -> Result<PathBuf, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    Ok(program.with_file_name(FILE))
}

/// `T` is the function's type in `paceline_finality.h` of the ABI that is checked before any is called.
fn symbol<'l, T>(library: &'l Library, name: &str) -> Result<Symbol<'l, T>, String> {
    // SAFETY: every caller names the type that the header declares for the function.
    unsafe { library.get(name.as_bytes()) }.map_err(|error| format!("{FILE}: {error}"))
}
