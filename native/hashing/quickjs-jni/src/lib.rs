//! A `QuickJS` runtime inside the JVM: the cdylib behind `dev.paceline.piece.PieceHost`.
//!
//! JavaScript calls `NativeHasher.sha1(data)`; `paceline-hashing-quickjs` is the runtime with its
//! bindings, and this crate passes the bytes through JNI to a Kotlin `PieceHasher`. Read in this
//! order: `hasher` (ways to pass bytes), `failure` (exceptions in both directions), `registry`
//! (hosts by number). A host is used by the thread that opened it. No panic, JavaScript error or
//! Java exception crosses the border except as an exception of the other side.

mod failure;
mod hasher;
mod registry;

use std::sync::Arc;

use jni::objects::{JByteArray, JObject, JString};
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned};
use paceline_hashing_jni_guard::{Refusal, Throw};
use paceline_hashing_quickjs::{
    Argument, Host, MOST_PIECES_PER_CALL, Threads, engine_for, quickjs_version, thread_cpu_ns,
};

use crate::failure::raise;
use crate::hasher::KotlinHasher;

/// The version of the native methods; `PieceLibrary` refuses other versions.
const ABI_VERSION: jint = 1;

/// The most threads of either kind that a host may have: far beyond the cores of any machine, and
/// few enough that a mistake (`Int.MAX_VALUE`) is an exception instead of an exhausted process.
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
        let lanes = size("lanes", lanes)?.min(MOST_PIECES_PER_CALL);
        Ok(env.new_string(engine_for(lanes).map_err(Refusal::argument)?.name())?)
    })
    .resolve::<Throw>()
}

/// `PieceLibrary.quickjsVersion(): String`
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceLibrary_quickjsVersion<'frame>(
    mut env: EnvUnowned<'frame>,
    _library: JObject<'frame>,
) -> JString<'frame> {
    env.with_env(|env| Ok::<_, Refusal>(env.new_string(quickjs_version())?))
        .resolve::<Throw>()
}

/// `PieceLibrary.threadCpuNs(): long`, the CPU time the calling thread has used.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_piece_PieceLibrary_threadCpuNs<'frame>(
    mut env: EnvUnowned<'frame>,
    _library: JObject<'frame>,
) -> jlong {
    env.with_env(|_| {
        let unread =
            |error| Refusal::State(format!("the thread's CPU time cannot be read: {error}"));
        thread_cpu_ns().map_err(unread)
    })
    .resolve::<Throw>()
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
        let threads = Threads {
            crew: threads("crew", crew)?,
            workers: threads("workers", workers)?,
        };
        let hasher = Arc::new(KotlinHasher::of(env, &hasher)?);
        let host = Host::open(hasher, threads).map_err(Refusal::State)?;
        Ok::<_, Refusal>(registry::add(host))
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
        let text = registry::with(host, |host| host.eval(source, &file_name))
            .map_err(|e| raise(e, env))?;
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
    env.with_env(|env| call(env, host, &function, Argument::Count(count)))
        .resolve::<Throw>()
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
    let bytes =
        registry::with(host, |host| host.call(&function, argument)).map_err(|e| raise(e, env))?;
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
    env.with_env(|env| registry::with(host, |host| Ok(host.digest_ns())).map_err(|e| raise(e, env)))
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
        let pending = registry::with(host, |host| Ok(host.pending())).map_err(|e| raise(e, env))?;
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
    env.with_env(|env| registry::close(host).map_err(|e| raise(e, env)))
        .resolve::<Throw>();
}

fn threads(name: &str, value: jint) -> Result<usize, Refusal> {
    match size(name, value)? {
        count @ ..=MOST_THREADS => Ok(count),
        _ => Err(Refusal::Argument(format!(
            "{name}: {value} is more than {MOST_THREADS} threads"
        ))),
    }
}

fn size(name: &str, value: jint) -> Result<usize, Refusal> {
    usize::try_from(value).map_err(|_| Refusal::Argument(format!("{name}: {value} is negative")))
}
