//! What goes wrong on one side, told to the other.
//!
//! ```text
//!   Kotlin throws ──Failure──▶ JS Error "HasherError" ──Leaving──▶ PieceScriptException, with its cause
//!   bad argument of a script ▶ JS TypeError, RangeError ─Leaving─▶ PieceScriptException
//! ```
//! Invariant: a Java exception is never pending while JavaScript runs.

use std::fmt;
use std::sync::Arc;

use jni::objects::{JObject, JThrowable, JValue};
use jni::refs::Global;
use jni::{Env, jni_sig, jni_str};
use paceline_hashing_jni_guard::Refusal;
use rquickjs_core::{Ctx, Error, Exception, Value};

/// The property of a JS error that names the Java exception it stands for.
const THROWN: &str = "javaException";

/// Why a piece was not hashed. Travels between threads.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    text: String,
    thrown: Option<Arc<Global<JThrowable<'static>>>>,
}

impl Failure {
    pub(crate) fn new(text: impl fmt::Display) -> Self {
        Self { text: text.to_string(), thrown: None }
    }

    /// Takes the pending Java exception, if `error` says there is one.
    pub(crate) fn catch(env: &mut Env<'_>, error: &jni::errors::Error) -> Self {
        let Some(throwable) = env.exception_occurred() else {
            return Self::new(format!("JNI: {error}"));
        };
        env.exception_clear();
        let text = describe(env, &throwable);
        // Without a reference the text still says what happened.
        let thrown = env.new_global_ref(throwable).ok().map(Arc::new);
        Self { text, thrown }
    }

    /// This failure as a JS error. `remember` keeps the Java exception until the error leaves the script.
    pub(crate) fn error<'js>(&self, ctx: &Ctx<'js>, remember: &Thrown) -> rquickjs_core::Result<Value<'js>> {
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

impl From<jni::errors::Error> for Failure {
    fn from(error: jni::errors::Error) -> Self {
        Self::new(format!("JNI: {error}"))
    }
}

/// `toString()` of a throwable; its own failure must not hide the first one.
fn describe(env: &mut Env<'_>, throwable: &JThrowable<'_>) -> String {
    let text = env.call_method(throwable, jni_str!("toString"), jni_sig!("()Ljava/lang/String;"), &[]);
    let text = text.and_then(jni::JValueOwned::l).and_then(|text| {
        let text = env.cast_local::<jni::objects::JString>(text)?;
        text.try_to_string(env)
    });
    env.exception_clear();
    text.unwrap_or_else(|_| "a Java exception whose toString() fails".to_owned())
}

/// The latest Java exception a script was told of, so that it can be the cause of what leaves the script.
#[derive(Default)]
pub(crate) struct Thrown {
    latest: std::cell::RefCell<(i32, Option<Arc<Global<JThrowable<'static>>>>)>,
}

impl Thrown {
    fn keep(&self, thrown: Arc<Global<JThrowable<'static>>>) -> i32 {
        let mut latest = self.latest.borrow_mut();
        *latest = (latest.0.wrapping_add(1), Some(thrown));
        latest.0
    }

    fn take(&self, number: i32) -> Option<Arc<Global<JThrowable<'static>>>> {
        let mut latest = self.latest.borrow_mut();
        if latest.0 == number { latest.1.take() } else { None }
    }
}

/// What leaves a host for Kotlin instead of a value.
pub(crate) enum Leaving {
    /// The call itself was wrong: `IllegalArgumentException` or `IllegalStateException`.
    Refused(Refusal),
    /// A script threw: `PieceScriptException`.
    Script { text: String, cause: Option<Arc<Global<JThrowable<'static>>>> },
}

impl From<Refusal> for Leaving {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Leaving {
    /// What a script threw, with its stack.
    pub(crate) fn of_thrown(value: &Value<'_>, thrown: &Thrown) -> Self {
        let Some(error) = value.as_object().filter(|_| value.is_error()) else {
            return Self::Script { text: text_of(value), cause: None };
        };
        let field = |name: &str| error.get::<_, Option<String>>(name).ok().flatten();
        let name = field("name").unwrap_or_else(|| "Error".to_owned());
        let message = field("message").unwrap_or_default();
        let stack = field("stack").unwrap_or_default();
        let number = error.get::<_, Option<i32>>(THROWN).ok().flatten();
        let text = format!("{name}: {message}\n{stack}").trim_end().to_owned();
        Self::Script { text, cause: number.and_then(|number| thrown.take(number)) }
    }

    /// The same for an error of the bindings, whose exception is pending in the script's context.
    pub(crate) fn of_error(ctx: &Ctx<'_>, error: &Error, thrown: &Thrown) -> Self {
        match error {
            Error::Exception => Self::of_thrown(&ctx.catch(), thrown),
            other => Self::Script { text: other.to_string(), cause: None },
        }
    }

    /// Makes it the pending Java exception.
    pub(crate) fn raise(self, env: &mut Env<'_>) -> Refusal {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Script { text, cause } => match throw_script_exception(env, &text, cause.as_deref()) {
                Ok(()) => Refusal::State(text),
                Err(error) => Refusal::Jni(error),
            },
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

fn text_of(value: &Value<'_>) -> String {
    match value.get::<rquickjs_core::Coerced<String>>() {
        Ok(text) => text.0,
        Err(_) => "a value that cannot be shown".to_owned(),
    }
}
