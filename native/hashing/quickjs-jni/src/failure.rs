//! Carries Java exceptions into a script, and errors of a script back to Kotlin.
//!
//! ```text
//!   Kotlin throws ──Caught──▶ Failure ─▶ (quickjs: JS Error "HasherError") ─▶ Leaving ──raise──▶ exception
//! ```
//! No Java exception is pending while JavaScript runs.

use std::fmt;
use std::sync::Arc;

use jni::objects::{JObject, JThrowable, JValue};
use jni::refs::Global;
use jni::{Env, jni_sig, jni_str};
use paceline_hashing_jni_guard::Refusal;
use paceline_hashing_quickjs::{Cause, Failure, Leaving};

/// A failure of a hasher in Kotlin, or of JNI itself.
pub(crate) struct Caught(pub(crate) Failure);

impl Caught {
    pub(crate) fn new(text: impl fmt::Display) -> Self {
        Self(Failure::new(text))
    }

    /// Takes the pending Java exception, if `error` says that there is one.
    pub(crate) fn take(env: &mut Env<'_>, error: &jni::errors::Error) -> Self {
        let Some(throwable) = env.exception_occurred() else {
            return Self::new(format!("JNI: {error}"));
        };
        env.exception_clear();
        let text = describe(env, &throwable);
        // Without a reference the text still describes the exception.
        let thrown = env
            .new_global_ref(throwable)
            .ok()
            .map(|thrown| Arc::new(thrown) as Cause);
        Self(Failure::thrown(text, thrown))
    }
}

impl From<jni::errors::Error> for Caught {
    fn from(error: jni::errors::Error) -> Self {
        Self::new(format!("JNI: {error}"))
    }
}

/// `toString()` of a throwable; its own failure must not hide the first one.
fn describe(env: &mut Env<'_>, throwable: &JThrowable<'_>) -> String {
    let text = env.call_method(
        throwable,
        jni_str!("toString"),
        jni_sig!("()Ljava/lang/String;"),
        &[],
    );
    let text = text.and_then(jni::JValueOwned::l).and_then(|text| {
        let text = env.cast_local::<jni::objects::JString>(text)?;
        text.try_to_string(env)
    });
    env.exception_clear();
    text.unwrap_or_else(|_| "a Java exception whose toString() fails".to_owned())
}

/// Throws it in Java: `IllegalArgumentException`, `IllegalStateException`, or
/// `PieceScriptException` for what a script threw.
pub(crate) fn raise(leaving: Leaving, env: &mut Env<'_>) -> Refusal {
    match leaving {
        Leaving::Argument(text) => Refusal::Argument(text),
        Leaving::State(text) => Refusal::State(text),
        Leaving::Script { text, cause } => {
            // Only `Caught::take` makes causes.
            let cause = cause.as_deref().and_then(|cause| cause.downcast_ref());
            match throw_script_exception(env, &text, cause) {
                Ok(()) => Refusal::State(text),
                Err(error) => Refusal::Jni(error),
            }
        }
    }
}

fn throw_script_exception(
    env: &mut Env<'_>,
    text: &str,
    cause: Option<&Global<JThrowable<'static>>>,
) -> jni::errors::Result<()> {
    let class = env.find_class(jni_str!("dev/paceline/piece/PieceScriptException"))?;
    let text = env.new_string(text)?;
    let none = JObject::null();
    let cause = cause.map_or(&none, |cause| cause.as_obj());
    let exception = env.new_object(
        class,
        jni_sig!("(Ljava/lang/String;Ljava/lang/Throwable;)V"),
        &[JValue::Object(&text), JValue::Object(cause)],
    )?;
    let exception = env.cast_local::<JThrowable>(exception)?;
    env.throw(exception)
}
