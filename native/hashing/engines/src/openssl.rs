//! Calls libcrypto's low-level digests, which most native code uses and arms are compared with.
//!
//! `SHA256_Init`, `_Update` and `_Final` are used because the EVP interface costs more per message.
//! libcrypto is loaded at run time, so the build does not need it; where it is missing, its arm is
//! unavailable. All `unsafe` code of this crate is here.

use std::ffi::{CStr, c_char, c_int, c_void};

use libloading::{Library, Symbol};
use paceline_hashing_core::Algorithm;

/// File names that are tried, newest first.
const NAMES: [&str; 4] = [
    "libcrypto.so.3",
    "libcrypto.so.1.1",
    "libcrypto.3.dylib",
    "libcrypto-3-x64.dll",
];
/// `sizeof(SHA256_CTX)` is 112 and `sizeof(SHA_CTX)` 96 in every version above (openssl/sha.h).
const CONTEXT_BYTES: usize = 128;
/// `OPENSSL_VERSION` of openssl/crypto.h: the text with name and date.
const VERSION_TEXT: c_int = 0;

type Init = unsafe extern "C" fn(*mut c_void) -> c_int;
type Update = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int;
type Final = unsafe extern "C" fn(*mut u8, *mut c_void) -> c_int;
type Version = unsafe extern "C" fn(c_int) -> *const c_char;

#[repr(C, align(16))]
struct ContextBytes([u8; CONTEXT_BYTES]);

/// The three functions of one algorithm.
#[derive(Clone, Copy)]
struct Functions {
    init: Init,
    update: Update,
    finish: Final,
}

/// The library with the functions of both algorithms.
pub(crate) struct LibCrypto {
    sha1: Functions,
    sha256: Functions,
    version: String,
    /// Keeps the functions' code mapped.
    _library: Library,
}

impl LibCrypto {
    /// Loads it, or says why it cannot be used.
    pub(crate) fn load() -> Result<Self, String> {
        // SAFETY: libcrypto's initialisers have no preconditions.
        let loaded = NAMES
            .iter()
            .find_map(|name| unsafe { Library::new(*name) }.ok());
        let library =
            loaded.ok_or_else(|| format!("the loader finds none of {}", NAMES.join(", ")))?;
        let sha1 = functions(&library, ["SHA1_Init", "SHA1_Update", "SHA1_Final"])?;
        let sha256 = functions(&library, ["SHA256_Init", "SHA256_Update", "SHA256_Final"])?;
        let version: Symbol<'_, Version> = symbol(&library, "OpenSSL_version")?;
        // SAFETY: returns a static text for every argument.
        let version = unsafe { CStr::from_ptr(version(VERSION_TEXT)) }
            .to_string_lossy()
            .into_owned();
        Ok(Self {
            sha1,
            sha256,
            version,
            _library: library,
        })
    }

    /// The version text that the library reports.
    pub(crate) fn version(&self) -> String {
        self.version.clone()
    }

    /// Writes the digest of `message` to the beginning of `digest`.
    ///
    /// # Panics
    /// When `digest` is too short for a digest.
    #[inline]
    pub(crate) fn digest(&self, algorithm: Algorithm, message: &[u8], digest: &mut [u8]) {
        let functions = match algorithm {
            Algorithm::Sha1 => &self.sha1,
            Algorithm::Sha256 => &self.sha256,
        };
        let digest = &mut digest[..algorithm.digest_bytes()];
        let mut context = ContextBytes([0; CONTEXT_BYTES]);
        let context: *mut c_void = context.0.as_mut_ptr().cast();
        // SAFETY: the context is larger than the library's and outlives the calls; message and digest are
        // valid for the lengths the functions read and write.
        unsafe {
            (functions.init)(context);
            (functions.update)(context, message.as_ptr().cast(), message.len());
            (functions.finish)(digest.as_mut_ptr(), context);
        }
    }
}

fn functions(library: &Library, [init, update, finish]: [&str; 3]) -> Result<Functions, String> {
    let init: Symbol<'_, Init> = symbol(library, init)?;
    let update: Symbol<'_, Update> = symbol(library, update)?;
    let finish: Symbol<'_, Final> = symbol(library, finish)?;
    Ok(Functions {
        init: *init,
        update: *update,
        finish: *finish,
    })
}

/// `T` is the function's type in openssl/sha.h or openssl/crypto.h, which has not changed since 1.1.0.
fn symbol<'l, T>(library: &'l Library, name: &str) -> Result<Symbol<'l, T>, String> {
    // SAFETY: every caller names the type that the headers declare for the function.
    unsafe { library.get(name.as_bytes()) }.map_err(|error| format!("libcrypto: {error}"))
}
