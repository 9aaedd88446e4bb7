//! Translates errors of one side for the other.
//!
//! ```text
//!   a hasher fails ──Failure──▶ JS Error "HasherError" ──Leaving──▶ the caller, with what the hasher threw
//!   bad argument of a script ▶ JS TypeError, RangeError ─Leaving─▶ the caller
//! ```

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use rquickjs_core::{Ctx, Error, Exception, Value};

/// The property of a JS error that names the original exception; so far these are Java's.
const THROWN: &str = "javaException";

/// The exception of a hasher, carried through the script; only the hasher's side looks into it.
pub type Cause = Arc<dyn Any + Send + Sync>;

/// Why a piece was not hashed. It can be sent between threads.
#[derive(Clone, Debug)]
pub struct Failure {
    text: String,
    thrown: Option<Cause>,
}

impl Failure {
    /// A failure with its reason.
    pub fn new(text: impl fmt::Display) -> Self {
        Self {
            text: text.to_string(),
            thrown: None,
        }
    }

    /// The same with the hasher's exception, if there is a reference to it.
    pub fn thrown(text: impl fmt::Display, thrown: Option<Cause>) -> Self {
        Self {
            text: text.to_string(),
            thrown,
        }
    }

    /// This failure as a JS error. `remember` keeps the hasher's exception until the error leaves
    /// the script.
    pub(crate) fn error<'js>(
        &self,
        ctx: &Ctx<'js>,
        remember: &Thrown,
    ) -> rquickjs_core::Result<Value<'js>> {
        let error = Exception::from_message(ctx.clone(), &self.text)?.into_object();
        error.set("name", "HasherError")?;
        if let Some(thrown) = &self.thrown {
            error.set(THROWN, remember.keep(Arc::clone(thrown)))?;
        }
        Ok(error.into_value())
    }

    /// Throws it into the script.
    pub(crate) fn throw(&self, ctx: &Ctx<'_>, remember: &Thrown) -> Error {
        match self.error(ctx, remember) {
            Ok(error) => ctx.throw(error),
            Err(error) => error,
        }
    }
}

/// The last exception of a hasher that reached a script: the possible cause of what the script
/// throws.
#[derive(Default)]
pub(crate) struct Thrown {
    latest: std::cell::RefCell<(i32, Option<Cause>)>,
}

impl Thrown {
    fn keep(&self, thrown: Cause) -> i32 {
        let mut latest = self.latest.borrow_mut();
        *latest = (latest.0.wrapping_add(1), Some(thrown));
        latest.0
    }

    fn take(&self, number: i32) -> Option<Cause> {
        let mut latest = self.latest.borrow_mut();
        if latest.0 == number {
            latest.1.take()
        } else {
            None
        }
    }
}

/// An error that leaves a host instead of a value.
pub enum Leaving {
    /// The call itself was wrong.
    Argument(String),
    /// A valid call at a wrong time.
    State(String),
    /// A script threw.
    Script {
        /// Name, message and stack.
        text: String,
        /// The exception of a hasher that reached the script.
        cause: Option<Cause>,
    },
}

impl fmt::Display for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(text) | Self::State(text) | Self::Script { text, .. } => {
                f.write_str(text)
            }
        }
    }
}

impl Leaving {
    /// The error for what a script threw, with its stack.
    pub(crate) fn of_thrown(value: &Value<'_>, thrown: &Thrown) -> Self {
        let Some(error) = value.as_object().filter(|_| value.is_error()) else {
            return Self::Script {
                text: text_of(value),
                cause: None,
            };
        };
        let field = |name: &str| error.get::<_, Option<String>>(name).ok().flatten();
        let name = field("name").unwrap_or_else(|| "Error".to_owned());
        let message = field("message").unwrap_or_default();
        let stack = field("stack").unwrap_or_default();
        let number = error.get::<_, Option<i32>>(THROWN).ok().flatten();
        let text = format!("{name}: {message}\n{stack}").trim_end().to_owned();
        Self::Script {
            text,
            cause: number.and_then(|number| thrown.take(number)),
        }
    }

    /// The same for an error of the bindings, whose exception is pending in the script's context.
    pub(crate) fn of_error(ctx: &Ctx<'_>, error: &Error, thrown: &Thrown) -> Self {
        match error {
            Error::Exception => Self::of_thrown(&ctx.catch(), thrown),
            other => Self::Script {
                text: other.to_string(),
                cause: None,
            },
        }
    }
}

fn text_of(value: &Value<'_>) -> String {
    match value.get::<rquickjs_core::Coerced<String>>() {
        Ok(text) => text.0,
        Err(_) => "a value that cannot be shown".to_owned(),
    }
}
