//! The reasons why a native method refused, and the Java exception for each.

use std::any::Any;
use std::fmt;

use jni::Env;
use jni::errors::ErrorPolicy;
use jni::jni_str;
use jni::strings::{JNIStr, JNIString};
use paceline_hashing_core::panic_text;

/// The failures of a native method, by the Java exception that each becomes.
#[derive(Debug)]
pub enum Refusal {
    /// `IllegalArgumentException`: the caller's sizes or buffers are wrong.
    Argument(String),
    /// `IllegalStateException`: a valid call at a wrong time.
    State(String),
    /// `IllegalStateException`: the JVM refused something; a pending exception stays.
    Jni(jni::errors::Error),
}

impl Refusal {
    /// A [`Refusal::Argument`] with the text of an error; for `map_err`.
    #[must_use]
    pub fn argument(error: impl fmt::Display) -> Self {
        Self::Argument(error.to_string())
    }

    fn class(&self) -> &'static JNIStr {
        match self {
            Self::Argument(_) => jni_str!("java/lang/IllegalArgumentException"),
            Self::State(_) | Self::Jni(_) => jni_str!("java/lang/IllegalStateException"),
        }
    }
}

impl From<jni::errors::Error> for Refusal {
    fn from(error: jni::errors::Error) -> Self {
        Self::Jni(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(text) | Self::State(text) => f.write_str(text),
            Self::Jni(error) => write!(f, "JNI: {error}"),
        }
    }
}

/// Turns a refusal or a panic into a pending Java exception and returns the method's default value;
/// an exception that is already pending stays.
///
/// `env.with_env(|env| …).resolve::<Throw>()`
pub struct Throw;

impl<T: Default> ErrorPolicy<T, Refusal> for Throw {
    type Captures<'frame: 'method, 'method> = ();

    fn on_error<'frame: 'method, 'method>(
        env: &mut Env<'frame>,
        (): &mut (),
        refusal: Refusal,
    ) -> jni::errors::Result<T> {
        if !env.exception_check() {
            // Throwing reports "an exception is pending", as intended.
            let _ = env.throw_new(refusal.class(), JNIString::from(refusal.to_string()));
        }
        Ok(T::default())
    }

    fn on_panic<'frame: 'method, 'method>(
        env: &mut Env<'frame>,
        (): &mut (),
        payload: Box<dyn Any + Send>,
    ) -> jni::errors::Result<T> {
        if !env.exception_check() {
            let message = JNIString::from(panic_text(payload.as_ref()));
            let _ = env.throw_new(jni_str!("java/lang/IllegalStateException"), message);
        }
        Ok(T::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_arguments_and_wrong_states_are_different_exceptions() {
        let classes =
            [Refusal::argument("a"), Refusal::State("b".to_owned())].map(|r| r.class().to_str());
        assert_eq!(
            classes,
            [
                "java/lang/IllegalArgumentException",
                "java/lang/IllegalStateException"
            ]
        );
    }
}
