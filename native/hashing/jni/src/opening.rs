//! The work of a fresh process: binds all calls and tests them with published digests.
//!
//! It is one native method, because every cold start pays for it and a fresh JVM interprets Java.
//! Tests take the way of a user's call, through the JVM and the bound method, and their batches
//! make the library choose every engine that it may choose on this CPU. Engines that are chosen
//! only on request are not tested.

use std::ffi::c_void;

use jni::objects::{JByteArray, JByteBuffer, JClass, JIntArray, JObject, JString};
use jni::signature::MethodSignature;
use jni::strings::JNIStr;
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned, JValue, NativeMethod, jni_sig, jni_str};
use paceline_hashing_core::{Choice, Engine};
use paceline_hashing_jni_guard::{Refusal, Throw};

use crate::vectors::{Batch, DIGEST_BYTES, TEXTS};
use crate::{arrays, buffers, choice};

/// The library chooses, as for a user.
const BEST: jint = 0;
/// Sizes of batches that make the library choose each of its engines: one stream, two streams (or a
/// scalar rest), eight lanes, and two full rounds of sixteen with a rest. A test checks that none
/// is missing on its CPU.
const COUNTS: [usize; 4] = [1, 3, 8, 36];
const MOST: usize = COUNTS[COUNTS.len() - 1];

/// A native method of `NativeDigests`: its name and signature.
struct Call(&'static JNIStr, MethodSignature<'static, 'static>);

const ARRAY: Call = Call(jni_str!("digestArray0"), jni_sig!("([B[II[BII)I"));
const ONE: Call = Call(jni_str!("digestOne0"), jni_sig!("([BII[BII)V"));
const AT: Call = Call(
    jni_str!("digestAt0"),
    jni_sig!("(Ljava/nio/ByteBuffer;JIIIIII)I"),
);
const EQUAL: Call = Call(
    jni_str!("digestEqual0"),
    jni_sig!("(Ljava/nio/ByteBuffer;ILjava/nio/ByteBuffer;I)I"),
);
const RAGGED: Call = Call(
    jni_str!("digestRagged0"),
    jni_sig!("(Ljava/nio/ByteBuffer;Ljava/nio/ByteBuffer;Ljava/nio/ByteBuffer;I)I"),
);

const ADDRESS: Call = Call(jni_str!("address0"), jni_sig!("(Ljava/nio/ByteBuffer;)J"));
const ENGINES: Call = Call(jni_str!("engines0"), jni_sig!("()Ljava/lang/String;"));
const ENGINE_NAME: Call = Call(jni_str!("engineName0"), jni_sig!("(I)Ljava/lang/String;"));

/// `static native String open0()`: binds and tests all calls, and returns the name of the engine
/// for a batch that fills its lanes. Throws what a call throws, and `IllegalStateException` for a
/// wrong digest.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_open0<'frame>(
    mut env: EnvUnowned<'frame>,
    class: JClass<'frame>,
) -> JString<'frame> {
    env.with_env(|env| {
        bind(env, &class)?;
        let engine = Trial { env, class: &class }.all()?;
        Ok::<_, Refusal>(env.new_string(engine.name())?)
    })
    .resolve::<Throw>()
}

/// Binds the calls to this library's functions at once, so that a missing one is noticed before
/// anything is digested, and without the JVM's search for symbols, which is interpreted.
fn bind(env: &mut Env<'_>, class: &JClass<'_>) -> Result<(), Refusal> {
    let functions = [
        (
            &ARRAY,
            arrays::Java_dev_paceline_ledger_NativeDigests_digestArray0 as *mut c_void,
        ),
        (
            &ONE,
            arrays::Java_dev_paceline_ledger_NativeDigests_digestOne0 as *mut c_void,
        ),
        (
            &AT,
            buffers::Java_dev_paceline_ledger_NativeDigests_digestAt0 as *mut c_void,
        ),
        (
            &EQUAL,
            buffers::Java_dev_paceline_ledger_NativeDigests_digestEqual0 as *mut c_void,
        ),
        (
            &RAGGED,
            buffers::Java_dev_paceline_ledger_NativeDigests_digestRagged0 as *mut c_void,
        ),
        (
            &ADDRESS,
            buffers::Java_dev_paceline_ledger_NativeDigests_address0 as *mut c_void,
        ),
        (
            &ENGINES,
            super::Java_dev_paceline_ledger_NativeDigests_engines0 as *mut c_void,
        ),
        (
            &ENGINE_NAME,
            super::Java_dev_paceline_ledger_NativeDigests_engineName0 as *mut c_void,
        ),
    ];
    let methods = functions.map(|(Call(name, signature), code)| {
        // SAFETY: each function has the parameters of its `Call`, as the JNI specification maps
        // them; all are static methods.
        unsafe { NativeMethod::from_raw_parts(name, signature.sig(), code) }
    });
    // SAFETY: as above.
    Ok(unsafe { env.register_native_methods(class, &methods) }?)
}

/// Tests every call with published digests.
struct Trial<'a, 'frame> {
    env: &'a mut Env<'frame>,
    class: &'a JClass<'frame>,
}

impl<'frame> Trial<'_, 'frame> {
    fn all(mut self) -> Result<Engine, Refusal> {
        let ragged = Batch::ragged(MOST);
        let mut engine = BEST;
        for count in COUNTS {
            engine = self.array(&ragged, count)?;
        }
        self.ragged(&ragged)?;
        self.test_batch(&ragged)?;
        self.at("digestAt", &ragged, 0)?;
        let equal = Batch::equal(MOST);
        let bytes = equal.messages.len() / MOST;
        self.at("digestAt, equally long,", &equal, bytes)?;
        self.equal(&equal, bytes)?;
        match choice::choice(engine.into())? {
            Choice::Only(engine) => Ok(engine),
            Choice::Best => Err(Refusal::State("digestArray named no engine".to_owned())),
        }
    }

    fn call(
        &mut self,
        Call(name, signature): &Call,
        arguments: &[JValue<'_>],
    ) -> Result<jint, Refusal> {
        let result = self
            .env
            .call_static_method(self.class, name, signature, arguments)?;
        Ok(result.i().unwrap_or(0)) // `digestOne0` returns nothing
    }

    fn array(&mut self, batch: &Batch, count: usize) -> Result<jint, Refusal> {
        let messages = self.env.byte_array_from_slice(&batch.messages)?;
        let offsets = JIntArray::new(self.env, batch.offsets.len())?;
        offsets.set_region(self.env, 0, &batch.offsets)?;
        let digests = JByteArray::new(self.env, count * DIGEST_BYTES)?;
        let engine = self.call(
            &ARRAY,
            &[
                (&messages).into(),
                (&offsets).into(),
                int(count)?,
                (&digests).into(),
                JValue::Int(0),
                JValue::Int(BEST),
            ],
        )?;
        self.compare("digestArray", batch, &digests)?;
        Ok(engine)
    }

    /// Each text once, because this call has no lanes.
    fn test_batch(&mut self, batch: &Batch) -> Result<(), Refusal> {
        let messages = self.env.byte_array_from_slice(&batch.messages)?;
        let digests = JByteArray::new(self.env, TEXTS.len() * DIGEST_BYTES)?;
        for i in 0..TEXTS.len() {
            self.call(
                &ONE,
                &[
                    (&messages).into(),
                    JValue::Int(batch.offsets[i]),
                    JValue::Int(batch.offsets[i + 1] - batch.offsets[i]),
                    (&digests).into(),
                    int(i * DIGEST_BYTES)?,
                    JValue::Int(BEST),
                ],
            )?;
        }
        self.compare("digestOne", batch, &digests)
    }

    /// Tests `DirectBatch`'s call over one block of memory as it makes them; ragged if
    /// `equal_bytes` is 0.
    fn at(&mut self, named: &str, batch: &Batch, equal_bytes: usize) -> Result<(), Refusal> {
        let offsets_from = batch.messages.len().next_multiple_of(size_of::<i32>());
        let offsets: Vec<u8> = batch
            .offsets
            .iter()
            .flat_map(|offset| offset.to_ne_bytes())
            .collect();
        let digests_from = offsets_from + offsets.len();
        // Whole words, so that the offsets are aligned.
        let mut words = vec![0_u32; (digests_from + batch.digests.len()) / size_of::<u32>()];
        // SAFETY: the words' own memory; every bit pattern is a byte.
        let (_, memory, _) = unsafe { words.align_to_mut::<u8>() };
        memory[..batch.messages.len()].copy_from_slice(&batch.messages);
        memory[offsets_from..digests_from].copy_from_slice(&offsets);
        let address = memory.as_mut_ptr().expose_provenance();
        self.call(
            &AT,
            &[
                JValue::Object(&JObject::null()),
                JValue::Long(jlong::try_from(address).map_err(Refusal::argument)?),
                int(batch.messages.len())?,
                if equal_bytes == 0 {
                    int(offsets_from)?
                } else {
                    JValue::Int(-1)
                },
                int(equal_bytes)?,
                int(digests_from)?,
                int(MOST)?,
                JValue::Int(BEST),
            ],
        )?;
        equal(
            named,
            &batch.digests,
            &memory[digests_from..digests_from + batch.digests.len()],
        )
    }

    fn ragged(&mut self, batch: &Batch) -> Result<(), Refusal> {
        let mut offsets = batch.offsets.clone();
        let mut memory = (batch.messages.clone(), vec![0; batch.digests.len()]);
        // SAFETY: all three vectors outlive the call, and nothing else touches them meanwhile.
        let (messages, places, digests) = unsafe {
            let bytes = size_of_val(&offsets[..]);
            (
                self.buffer(memory.0.as_mut_ptr(), memory.0.len())?,
                self.buffer(offsets.as_mut_ptr().cast(), bytes)?,
                self.buffer(memory.1.as_mut_ptr(), memory.1.len())?,
            )
        };
        self.call(
            &RAGGED,
            &[
                (&messages).into(),
                (&places).into(),
                (&digests).into(),
                JValue::Int(BEST),
            ],
        )?;
        equal("digestRagged", &batch.digests, &memory.1)
    }

    fn equal(&mut self, batch: &Batch, bytes: usize) -> Result<(), Refusal> {
        let mut memory = (batch.messages.clone(), vec![0; batch.digests.len()]);
        // SAFETY: as above.
        let (messages, digests) = unsafe {
            (
                self.buffer(memory.0.as_mut_ptr(), memory.0.len())?,
                self.buffer(memory.1.as_mut_ptr(), memory.1.len())?,
            )
        };
        self.call(
            &EQUAL,
            &[
                (&messages).into(),
                int(bytes)?,
                (&digests).into(),
                JValue::Int(BEST),
            ],
        )?;
        equal("digestEqual", &batch.digests, &memory.1)
    }

    /// # Safety
    /// The memory exists as long as the buffer is used.
    unsafe fn buffer(
        &mut self,
        start: *mut u8,
        bytes: usize,
    ) -> Result<JByteBuffer<'frame>, Refusal> {
        // SAFETY: the caller's promise.
        Ok(unsafe { self.env.new_direct_byte_buffer(start, bytes) }?)
    }

    fn compare(
        &mut self,
        named: &str,
        batch: &Batch,
        digests: &JByteArray<'_>,
    ) -> Result<(), Refusal> {
        let digests = self.env.convert_byte_array(digests)?;
        equal(named, &batch.digests[..digests.len()], &digests)
    }
}

fn int(value: usize) -> Result<JValue<'static>, Refusal> {
    Ok(JValue::Int(
        jint::try_from(value).map_err(Refusal::argument)?,
    ))
}

fn equal(named: &str, expected: &[u8], digests: &[u8]) -> Result<(), Refusal> {
    let pairs = expected
        .chunks(DIGEST_BYTES)
        .zip(digests.chunks(DIGEST_BYTES));
    match pairs
        .into_iter()
        .position(|(expected, digest)| expected != digest)
    {
        None => Ok(()),
        Some(i) => Err(Refusal::State(format!(
            "{named} gave a wrong digest of message {i}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use paceline_hashing_core::{Algorithm, digest_ragged};

    use super::*;

    fn engine_for(count: usize) -> Engine {
        let batch = Batch::ragged(count);
        let offsets: Vec<u32> = batch
            .offsets
            .iter()
            .map(|at| u32::try_from(*at).expect("natural"))
            .collect();
        let mut digests = vec![0; batch.digests.len()];
        let engine = digest_ragged(
            Algorithm::Sha256,
            Choice::Best,
            &batch.messages,
            &offsets,
            &mut digests,
        )
        .expect("fits");
        assert!(digests == batch.digests, "{count} messages");
        engine
    }

    #[test]
    fn the_self_test_makes_the_library_choose_every_engine() {
        let tried = COUNTS.map(engine_for);
        for count in 1..=300 {
            let engine = engine_for(count);
            assert!(
                tried.contains(&engine),
                "{count} messages: {engine:?} is not tried"
            );
        }
    }

    #[test]
    fn a_wrong_digest_is_named_by_its_call_and_message() {
        let batch = Batch::equal(MOST);
        let mut digests = batch.digests.clone();
        assert!(equal("call", &batch.digests, &digests).is_ok());
        digests[5 * DIGEST_BYTES + 31] ^= 1;
        let refusal = equal("call", &batch.digests, &digests)
            .expect_err("wrong")
            .to_string();
        assert_eq!(refusal, "call gave a wrong digest of message 5");
    }
}
