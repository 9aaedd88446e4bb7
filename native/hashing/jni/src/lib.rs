//! The hashing core for the JVM: native methods of `dev.paceline.ledger.NativeDigests`, and the
//! same calls with C signatures for the foreign-function API.
//!
//! Read in this order: `buffers` (direct memory), `arrays` (`byte[]`), `offsets` (which Java may
//! change meanwhile), `plain` (C signatures), `choice` (engines as numbers), `opening` (binding and
//! testing) with `vectors`. No panic and no Rust error crosses into the JVM except as a Java
//! exception. Memory is touched only after its size was checked. The success path of a digest
//! allocates nothing and calls no Java.

pub mod arrays;
pub mod buffers;
mod choice;
mod offsets;
pub mod opening;
pub mod plain;
mod vectors;

use jni::EnvUnowned;
use jni::objects::{JClass, JString};
use jni::sys::jint;
use paceline_hashing_core::Choice;
use paceline_hashing_jni_guard::{Refusal, Throw};

/// The version of the native methods; `NativeLibrary.ABI_VERSION` must be equal.
///
/// It is text in the file, so that a test can make a library of another version out of this one.
#[used]
static ABI: [u8; 27] = *b"paceline-hashing-abi=000003";
const ABI_DIGITS: usize = 6;

/// `static native int abiVersion()`
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_abiVersion<'frame>(
    _env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
) -> jint {
    let text = std::hint::black_box(&ABI); // read from the file, so that the compiler cannot know it
    text[text.len() - ABI_DIGITS..]
        .iter()
        .fold(0, |number, digit| number * 10 + jint::from(digit - b'0'))
}

/// `static native String engines0()`: names of all engines in the order of their numbers, from 1; those this
/// CPU cannot run begin with `-`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_engines0<'frame>(
    mut env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
) -> JString<'frame> {
    env.with_env(|env| Ok::<_, Refusal>(env.new_string(choice::listed())?))
        .resolve::<Throw>()
}

/// `static native String engineName0(int number)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_engineName0<'frame>(
    mut env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
    number: jint,
) -> JString<'frame> {
    env.with_env(|env| match choice::choice(number.into())? {
        Choice::Only(engine) => Ok(env.new_string(engine.name())?),
        Choice::Best => Err(Refusal::Argument("engine: 0 is none".to_owned())),
    })
    .resolve::<Throw>()
}

/// Panics on request of a class that only our tests have, to show that a panic becomes a Java
/// exception.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_Provoked_panic<'frame>(
    mut env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
) {
    env.with_env(|_| -> Result<(), Refusal> {
        // A real unwind, without the panic hook's message on stderr.
        std::panic::resume_unwind(Box::new("asked for"))
    })
    .resolve::<Throw>();
}
