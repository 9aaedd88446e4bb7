//! The peers' second build, with `curve25519-dalek`'s AVX-512 vectors, in a shared library beside
//! this program.
//!
//! The library decides at run time which instructions it uses; without those vectors its arms are
//! unavailable, with the reason. All `unsafe` of this crate is here. Static programs for devices
//! use `vectorised_absent.rs`.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

use libloading::{Library, Symbol};
use paceline_harness::{Arm, Failure};

use crate::inputs::Inputs;

/// Where build.sh and the agent put it: beside this program, unless [`look_in`] said otherwise.
const FILE: &str = "libpaceline_attestation_peers.so";
/// [`paceline_attestation_peers::Vectors`] as the library says them.
const USED: i32 = 2;
const IDLE: i32 = 1;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Where the library is for a program that lies elsewhere: the first to say it decides.
pub fn look_in(folder: &Path) {
    FOLDER.get_or_init(|| folder.to_owned());
}

type Ask = unsafe extern "C" fn(*const Peers) -> i32;
type New = unsafe extern "C" fn(usize, *const u8, *const u8, *const u8, usize) -> *mut Peers;
type Free = unsafe extern "C" fn(*mut Peers);

/// The library's own.
#[repr(C)]
struct Peers {
    _opaque: [u8; 0],
}

/// Inputs in the library's types.
struct Second {
    peers: *mut Peers,
    free: Free,
    library: Library,
}

impl Second {
    fn of(library: Library, inputs: &Inputs) -> Result<Self, Failure> {
        let new = *symbol::<New>(&library, "paceline_peers_new")?;
        let free = *symbol::<Free>(&library, "paceline_peers_free")?;
        let count = inputs.messages.len();
        let bytes = inputs.messages.first().map_or(0, Vec::len);
        let (keys, signatures) = (
            inputs.key_bytes().concat(),
            inputs.signature_bytes().concat(),
        );
        let messages = inputs.messages.concat();
        // SAFETY: there are `count` of each, of 32, 64 and `bytes` bytes.
        let peers = unsafe {
            new(
                count,
                keys.as_ptr(),
                signatures.as_ptr(),
                messages.as_ptr(),
                bytes,
            )
        };
        if peers.is_null() {
            return Err(Failure::new("no_key", format!("{FILE} refused a key")));
        }
        Ok(Self {
            peers,
            free,
            library,
        })
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        // SAFETY: nobody else has the handle, and the library is unloaded only after this.
        unsafe { (self.free)(self.peers) };
    }
}

/// Arms that ask the library, one for each name and function, counting `items` each time.
pub(crate) fn arms<const N: usize>(
    inputs: &Inputs,
    items: usize,
    named: [(&'static str, &str); N],
) -> Result<Vec<Arm>, Failure> {
    let library = load()?;
    if let Some(reason) = why_not(&library)? {
        return Ok(named.map(|(name, _)| Arm::unavailable(name, reason)).into());
    }
    let second = Rc::new(Second::of(library, inputs)?);
    let arm = |(name, function)| {
        let (ask, second) = (
            *symbol::<Ask>(&second.library, function)?,
            Rc::clone(&second),
        );
        // SAFETY: the library made what it is asked about, and both live as long as the arm.
        Ok(Arm::counted(name, items, move || unsafe {
            ask(second.peers)
        }))
    };
    named.map(arm).into_iter().collect()
}

/// For the launch's facts: whether the second build's vectors are used, or why they are not.
pub(crate) fn fact() -> Result<String, Failure> {
    Ok(why_not(&load()?)?.unwrap_or("avx512").to_owned())
}

/// The library has to be there: without it a part of the suite would silently be missing.
fn load() -> Result<Library, Failure> {
    let missing = |error: String| {
        Failure::new(
            "native_library",
            format!("{error}. Build it: build.sh attestation."),
        )
    };
    let path = beside().map_err(missing)?;
    // SAFETY: our own library; its initialisers are those of Rust's runtime and ask nothing.
    unsafe { Library::new(path) }.map_err(|error| missing(format!("{FILE}: {error}")))
}

fn beside() -> Result<PathBuf, String> {
    if let Some(folder) = FOLDER.get() {
        return Ok(folder.join(FILE));
    }
    let program =
        std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    Ok(program.with_file_name(FILE))
}

fn why_not(library: &Library) -> Result<Option<&'static str>, Failure> {
    let vectors = symbol::<extern "C" fn() -> i32>(library, "paceline_peers_vectors")?;
    Ok(match vectors() {
        USED => None,
        IDLE => Some("this CPU has no AVX-512 IFMA with VL, which curve25519-dalek's vectors need"),
        _ => Some("curve25519-dalek was built without AVX-512: build.sh does it on x86-64"),
    })
}

fn symbol<'l, T>(library: &'l Library, name: &str) -> Result<Symbol<'l, T>, Failure> {
    // SAFETY: every caller names the type that the library's source, of this revision, has for the function.
    unsafe { library.get(name.as_bytes()) }
        .map_err(|error| Failure::new("native_library", format!("{FILE}: {error}")))
}
