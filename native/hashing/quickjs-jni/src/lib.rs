//! A `QuickJS` runtime inside the JVM: the cdylib behind `dev.paceline.piece.PieceHost`.
//!
//! Place in the journey: JavaScript calls `NativeHasher.sha1(data)`; this library carries the bytes up
//! through JNI into a Kotlin `PieceHasher`, or digests them itself, and carries the digest back. Read in this
//! order: `host` (a runtime and its job loop), `bindings` (what JavaScript may call), `hasher` (the ways up
//! into Kotlin), `workers` (hashing beside the JS thread), `bytes` (the only place that reads a script's
//! memory). Invariants: a host is used by the thread that opened it and never re-entered; no panic,
//! JavaScript error or Java exception crosses a border except as an exception of the other side; memory of a
//! script is read only while the script cannot free it. Absent on purpose: digests of its own
//! (`paceline-hashing-core`), verdicts, anything that knows benchmarks. Those are scripts (`js/`) and Kotlin.

mod bindings;
mod bytes;
mod clock;
mod failure;
mod flights;
mod hasher;
mod host;
mod registry;
mod workers;

use jni::objects::{JByteArray, JObject, JString};
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned};
use paceline_hashing_core::{Algorithm, Choice, digest_buffers};
use paceline_hashing_jni_guard::{Refusal, Throw};

use crate::hasher::Hasher;
use crate::host::{Argument, Host, Threads};

/// Bumped when a native method changes its meaning; `PieceLibrary` refuses to use another one.
const ABI_VERSION: jint = 1;

/// Threads of either kind a host may have: far beyond the cores of any machine this runs on, and few enough
/// that a slip of the caller's (`Int.MAX_VALUE`) is an exception instead of an exhausted process.
const MOST_THREADS: usize = 1024;

/// `PieceLibrary.abiVersion(): int`
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceLibrary_abiVersion<'frame>(
    _env: EnvUnowned<'frame>,
    _library: JObject<'frame>,
) -> jint {
    ABI_VERSION
}

/// `PieceLibrary.engine(int lanes): String`, the digest engine that hashes so many pieces at once.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceLibrary_engine<'frame>(
    mut env: EnvUnowned<'frame>,
    _library: JObject<'frame>,
    lanes: jint,
) -> JString<'frame> {
    env.with_env(|env| {
        let lanes = size("lanes", lanes)?.min(bindings::MOST_PIECES_PER_CALL);
        // Long enough that no engine is chosen for being quick to start.
        let piece = vec![0_u8; 4096];
        let pieces = vec![piece.as_slice(); lanes];
        let mut digests = vec![0_u8; lanes * Algorithm::Sha1.digest_bytes()];
        let engine = digest_buffers(Algorithm::Sha1, Choice::Best, &pieces, &mut digests);
        Ok(env.new_string(engine.map_err(Refusal::argument)?.name())?)
    })
    .resolve::<Throw>()
}

/// `PieceLibrary.quickjsVersion(): String`
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceLibrary_quickjsVersion<'frame>(
    mut env: EnvUnowned<'frame>,
    _library: JObject<'frame>,
) -> JString<'frame> {
    env.with_env(|env| Ok::<_, Refusal>(env.new_string(host::quickjs_version())?)).resolve::<Throw>()
}

/// `PieceLibrary.threadCpuNs(): long`, the CPU time the calling thread has used.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceLibrary_threadCpuNs<'frame>(
    mut env: EnvUnowned<'frame>,
    _library: JObject<'frame>,
) -> jlong {
    env.with_env(|_| clock::thread_cpu_ns()).resolve::<Throw>()
}

/// `PieceHost.open0(PieceHasher hasher, int crew, int workers): long`, the new host's number.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceHost_open0<'frame>(
    mut env: EnvUnowned<'frame>,
    _host: JObject<'frame>,
    hasher: JObject<'frame>,
    crew: jint,
    workers: jint,
) -> jlong {
    env.with_env(|env| {
        let threads = Threads { crew: threads("crew", crew)?, workers: threads("workers", workers)? };
        let hasher = Hasher::of(env, &hasher)?;
        Ok::<_, Refusal>(registry::add(Host::open(hasher, threads)?))
    })
    .resolve::<Throw>()
}

/// `PieceHost.eval0(long host, String source, String fileName): String`, the value as text.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceHost_eval0<'frame>(
    mut env: EnvUnowned<'frame>,
    _host: JObject<'frame>,
    host: jlong,
    source: JString<'frame>,
    file_name: JString<'frame>,
) -> JString<'frame> {
    env.with_env(|env| {
        let (source, file_name) = (source.try_to_string(env)?, file_name.try_to_string(env)?);
        let text = registry::with(host, |host| host.eval(source, &file_name)).map_err(|e| e.raise(env))?;
        Ok::<_, Refusal>(env.new_string(text)?)
    })
    .resolve::<Throw>()
}

/// `PieceHost.call0(long host, String function, int count): byte[]`, null unless it gives a `Uint8Array`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceHost_call0<'frame>(
    mut env: EnvUnowned<'frame>,
    _host: JObject<'frame>,
    host: jlong,
    function: JString<'frame>,
    count: jint,
) -> JByteArray<'frame> {
    env.with_env(|env| call(env, host, &function, Argument::Count(count))).resolve::<Throw>()
}

/// `PieceHost.give0(long host, String function, byte[] bytes): byte[]`, as `call0` with a `Uint8Array`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceHost_give0<'frame>(
    mut env: EnvUnowned<'frame>,
    _host: JObject<'frame>,
    host: jlong,
    function: JString<'frame>,
    bytes: JByteArray<'frame>,
) -> JByteArray<'frame> {
    env.with_env(|env| {
        let bytes = env.convert_byte_array(&bytes)?;
        call(env, host, &function, Argument::Bytes(bytes))
    })
    .resolve::<Throw>()
}

fn call<'frame>(
    env: &mut Env<'frame>,
    host: jlong,
    function: &JString<'frame>,
    argument: Argument,
) -> Result<JByteArray<'frame>, Refusal> {
    let function = function.try_to_string(env)?;
    let bytes = registry::with(host, |host| host.call(&function, argument)).map_err(|e| e.raise(env))?;
    Ok(match bytes {
        Some(bytes) => env.byte_array_from_slice(&bytes)?,
        None => JByteArray::null(),
    })
}

/// `PieceHost.digestNs0(long host): long`, the time native digests have taken since the host was opened.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceHost_digestNs0<'frame>(
    mut env: EnvUnowned<'frame>,
    _host: JObject<'frame>,
    host: jlong,
) -> jlong {
    env.with_env(|env| registry::with(host, |host| Ok(host.digest_ns())).map_err(|e| e.raise(env)))
        .resolve::<Throw>()
}

/// `PieceHost.pending0(long host): int`, pieces handed to workers whose callbacks have not run.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceHost_pending0<'frame>(
    mut env: EnvUnowned<'frame>,
    _host: JObject<'frame>,
    host: jlong,
) -> jint {
    env.with_env(|env| {
        let pending = registry::with(host, |host| Ok(host.pending())).map_err(|e| e.raise(env))?;
        Ok::<_, Refusal>(jint::try_from(pending).unwrap_or(jint::MAX))
    })
    .resolve::<Throw>()
}

/// `PieceHost.close0(long host)`: waits for pieces being hashed, forgets the rest, frees the runtime.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceHost_close0<'frame>(
    mut env: EnvUnowned<'frame>,
    _host: JObject<'frame>,
    host: jlong,
) {
    env.with_env(|env| registry::close(host).map_err(|e| e.raise(env))).resolve::<Throw>();
}

fn threads(name: &str, value: jint) -> Result<usize, Refusal> {
    match size(name, value)? {
        count @ ..=MOST_THREADS => Ok(count),
        _ => Err(Refusal::Argument(format!("{name}: {value} is more than {MOST_THREADS} threads"))),
    }
}

fn size(name: &str, value: jint) -> Result<usize, Refusal> {
    usize::try_from(value).map_err(|_| Refusal::Argument(format!("{name}: {value} is negative")))
}
