//! One `QuickJS` runtime with its context, its bindings and its job loop.
//!
//! ```text
//!   call ─▶ function runs ─▶ ┌─ promise jobs ─▶ callbacks of completed pieces ─┐ until the promise has settled
//!                            └─ end of turn: new pieces go to the workers ─────┴─ nothing to do: wait
//! ```
//! Only one call is inside at a time: a hasher that calls its own host is refused. No JS value
//! outlives the runtime ([`Host::close`] drops them first). There are no timers, no modules, no
//! file system, and a script that does not return is not interrupted.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use paceline_hashing_core::parallel::Crew;
use rquickjs_core::context::EvalOptions;
use rquickjs_core::promise::PromiseState;
use rquickjs_core::{
    Coerced, Context, Ctx, Function, Persistent, Promise, Runtime, TypedArray, Value, qjs,
};

use crate::bindings;
use crate::bytes::Resizable;
use crate::failure::{Leaving, Thrown};
use crate::hasher::Hasher;
use crate::pending_pieces::PendingPieces;
use crate::workers::Workers;

/// Stack a script may use, in bytes: a quarter of the smallest stack a JVM thread has by default (1 MiB on
/// 64-bit Linux, `-Xss`), so that the Kotlin frames below and above it fit too.
const STACK_BYTES: usize = 256 * 1024;

/// Memory a script may use, in bytes: several batches of 16 pieces of 1 MiB. Beyond it a script gets an error
/// instead of the process getting killed.
const MEMORY_BYTES: usize = 512 * 1024 * 1024;

/// The scripts every host starts with, in this order.
const SCRIPTS: [(&str, &str); 4] = [
    ("native-hasher.js", include_str!("../js/native-hasher.js")),
    (
        "instrumentation.js",
        include_str!("../js/instrumentation.js"),
    ),
    ("pieces.js", include_str!("../js/pieces.js")),
    ("stream.js", include_str!("../js/stream.js")),
];

/// How many threads hash: those of a batch (`crew`, including the JS thread) and those beside the JS thread.
#[derive(Clone, Copy)]
pub struct Threads {
    /// Threads that hash one batch together.
    pub crew: usize,
    /// Threads that hash while a script runs; started when one first needs them.
    pub workers: usize,
}

/// The argument of a function call.
pub enum Argument {
    /// A number.
    Count(i32),
    /// A copy of the bytes, as a `Uint8Array`.
    Bytes(Vec<u8>),
}

/// State that the bindings share.
pub(crate) struct Shared {
    pub(crate) hasher: Arc<dyn Hasher>,
    pub(crate) crew: Crew,
    pub(crate) workers: usize,
    pub(crate) digest_ns: Cell<u64>,
    pub(crate) opened: Instant,
    pub(crate) pending_pieces: PendingPieces,
    pub(crate) resizable: RefCell<Option<Resizable>>,
    pub(crate) thrown: Thrown,
    /// Rejected promises without a handler, with the reason.
    unhandled: RefCell<Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>>,
}

/// A runtime inside this process. Belongs to the thread that opened it.
pub struct Host {
    context: Context,
    runtime: Runtime,
    shared: Rc<Shared>,
    workers: RefCell<Option<Workers>>,
    running: Cell<bool>,
}

/// A running host; dropping this ends the run.
pub struct Running<'host>(&'host Host);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.set(false);
    }
}

impl Host {
    /// A runtime with the bindings and the suite's scripts in it.
    ///
    /// # Errors
    /// The part that could not be made, and why.
    pub fn open(hasher: Arc<dyn Hasher>, threads: Threads) -> Result<Self, String> {
        let refused = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
        let crew = Crew::new(threads.crew.max(1)).map_err(|error| refused("crew", &error))?;
        let runtime = Runtime::new().map_err(|error| refused("QuickJS runtime", &error))?;
        runtime.set_max_stack_size(STACK_BYTES);
        runtime.set_memory_limit(MEMORY_BYTES);
        let context =
            Context::full(&runtime).map_err(|error| refused("QuickJS context", &error))?;
        let shared = Rc::new(Shared {
            hasher,
            crew,
            workers: threads.workers.max(1),
            digest_ns: Cell::new(0),
            opened: Instant::now(),
            pending_pieces: PendingPieces::default(),
            resizable: RefCell::default(),
            thrown: Thrown::default(),
            unhandled: RefCell::default(),
        });
        let host = Self {
            context,
            runtime,
            shared,
            workers: RefCell::default(),
            running: Cell::new(false),
        };
        if let Err(error) = host.prepare() {
            host.close();
            return Err(refused("the host's own scripts", &error));
        }
        Ok(host)
    }

    fn prepare(&self) -> Result<(), String> {
        let listener = Rc::clone(&self.shared);
        self.runtime
            .set_host_promise_rejection_tracker(Some(Box::new(
                move |ctx, promise, reason, handled| {
                    listener.rejected(&ctx, promise, reason, handled);
                },
            )));
        self.context.with(|ctx| {
            let installed = Resizable::take(&ctx).and_then(|resizable| {
                self.shared.resizable.replace(Some(resizable));
                bindings::install(&ctx, &self.shared)?;
                SCRIPTS.iter().try_for_each(|(name, source)| {
                    ctx.eval_with_options((*source).to_owned(), named(name))
                })
            });
            installed
                .map_err(|error| Leaving::of_error(&ctx, &error, &self.shared.thrown).to_string())
        })
    }

    /// Marks the host as running until the result is dropped.
    ///
    /// # Errors
    /// When it is running.
    pub fn enter(&self) -> Result<Running<'_>, Leaving> {
        if self.running.replace(true) {
            let text = "the host is running: what it calls may not call it (hand the work to a later turn)";
            return Err(Leaving::State(text.to_owned()));
        }
        Ok(Running(self))
    }

    /// Runs the job loop until `value` has settled, and returns its result.
    fn settled<'js>(
        &self,
        ctx: &Ctx<'js>,
        value: rquickjs_core::Result<Value<'js>>,
    ) -> Result<Value<'js>, Leaving> {
        let value = value.map_err(|error| self.leaving(ctx, &error))?;
        let promise = value.clone().into_promise();
        loop {
            while ctx.execute_pending_job() {}
            self.submit_new_pieces()?;
            let settled = promise
                .as_ref()
                .is_none_or(|promise| promise.state() != PromiseState::Pending);
            if settled {
                break;
            }
            if self.shared.pending_pieces.count() == 0 {
                let text = "the script waits for a promise that nothing will settle";
                return Err(Leaving::State(text.to_owned()));
            }
            self.complete_pieces(ctx)?;
        }
        self.shared.fail_if_unhandled(ctx, promise.as_ref())?;
        promise.map_or(Ok(value), |promise| self.outcome(ctx, &promise))
    }

    fn outcome<'js>(&self, ctx: &Ctx<'js>, promise: &Promise<'js>) -> Result<Value<'js>, Leaving> {
        match promise.result::<Value>() {
            Some(outcome) => outcome.map_err(|error| self.leaving(ctx, &error)),
            None => Err(Leaving::State("the promise is pending".to_owned())),
        }
    }

    /// Ends a script's turn: its new pieces go to the workers.
    fn submit_new_pieces(&self) -> Result<(), Leaving> {
        if !self.shared.pending_pieces.has_unsubmitted() {
            return Ok(());
        }
        // Before anything is submitted, so that without workers no piece seems to be in progress.
        let mut workers = self.workers.borrow_mut();
        if workers.is_none() {
            let started = Workers::start(self.shared.workers, Arc::clone(&self.shared.hasher));
            *workers = Some(started.map_err(|error| Leaving::State(format!("workers: {error}")))?);
        }
        if let Some(workers) = workers.as_ref() {
            workers.submit(self.shared.pending_pieces.take_unsubmitted());
        }
        Ok(())
    }

    /// Waits for a piece to complete, and calls the script back for all that have.
    fn complete_pieces(&self, ctx: &Ctx<'_>) -> Result<(), Leaving> {
        let completed = match self.workers.borrow().as_ref() {
            Some(workers) => workers.collect(true),
            None => Vec::new(),
        };
        let mut outcome = Ok(());
        for completion in completed {
            // A callback that throws must not keep the others from being called.
            let called = self
                .shared
                .pending_pieces
                .complete(ctx, completion, &self.shared.thrown);
            outcome = outcome.and(called.map_err(|error| self.leaving(ctx, &error)));
        }
        outcome
    }

    /// Stops the workers, drops every JS value this side holds, then the runtime.
    pub fn close(self) {
        if let Some(workers) = self.workers.take() {
            workers.stop();
        }
        self.runtime.set_host_promise_rejection_tracker(None);
        self.context.with(|ctx| {
            self.shared.pending_pieces.clear(&ctx);
            self.shared.unhandled.take();
            self.shared.resizable.take();
        });
    }

    fn leaving(&self, ctx: &Ctx<'_>, error: &rquickjs_core::Error) -> Leaving {
        Leaving::of_error(ctx, error, &self.shared.thrown)
    }
}

impl Running<'_> {
    /// Evaluates a script and returns its value, or what its promise settles to, as text.
    ///
    /// # Errors
    /// What the script threw, or that nothing will settle its promise.
    pub fn eval(&self, source: String, file_name: &str) -> Result<String, Leaving> {
        self.0.context.with(|ctx| {
            let value = ctx.eval_with_options::<Value, _>(source, named(file_name));
            let value = self.0.settled(&ctx, value)?;
            let text: Result<Coerced<String>, _> = value.get();
            text.map(|text| text.0)
                .map_err(|error| self.0.leaving(&ctx, &error))
        })
    }

    /// Calls a global function; its result, or what its promise settles to, if that is a `Uint8Array`.
    ///
    /// # Errors
    /// What the script threw, or that nothing will settle its promise.
    pub fn call(&self, name: &str, argument: Argument) -> Result<Option<Vec<u8>>, Leaving> {
        self.0.context.with(|ctx| {
            let function: Option<Function> = ctx.globals().get(name).ok();
            let function = function.ok_or_else(|| {
                ctx.catch(); // what reading it threw
                Leaving::Argument(format!(
                    "function: '{name}' is none of the script's global functions"
                ))
            })?;
            let value = match argument {
                Argument::Count(count) => function.call((count,)),
                Argument::Bytes(bytes) => TypedArray::new_copy(ctx.clone(), bytes)
                    .and_then(|bytes| function.call((bytes,))),
            };
            let value = self.0.settled(&ctx, value)?;
            let bytes = value.into_object().and_then(|object| {
                // SAFETY: copied before any script runs again.
                object
                    .as_typed_array::<u8>()
                    .and_then(|view| unsafe { view.as_bytes() }.map(<[u8]>::to_vec))
            });
            Ok(bytes)
        })
    }

    /// Time native digests took, on this thread and on the workers.
    #[must_use]
    pub fn digest_ns(&self) -> i64 {
        let on_workers = self
            .0
            .workers
            .borrow()
            .as_ref()
            .map_or(0, Workers::digest_ns);
        i64::try_from(self.0.shared.digest_ns.get() + on_workers).unwrap_or(i64::MAX)
    }

    /// Pieces handed to workers whose callbacks have not run.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.0.shared.pending_pieces.count()
    }
}

impl Shared {
    fn rejected<'js>(
        &self,
        ctx: &Ctx<'js>,
        promise: Value<'js>,
        reason: Value<'js>,
        handled: bool,
    ) {
        let promise = Persistent::save(ctx, promise);
        let mut unhandled = self.unhandled.borrow_mut();
        if handled {
            unhandled.retain(|(other, _)| *other != promise);
        } else {
            unhandled.push((promise, Persistent::save(ctx, reason)));
        }
    }

    /// Fails if a promise other than `awaited`, which the caller handles, was rejected without a handler.
    fn fail_if_unhandled<'js>(
        &self,
        ctx: &Ctx<'js>,
        awaited: Option<&Promise<'js>>,
    ) -> Result<(), Leaving> {
        let awaited = awaited
            .map(std::ops::Deref::deref)
            .map(rquickjs_core::Object::as_value);
        let mut missed = self
            .unhandled
            .take()
            .into_iter()
            .filter_map(|(promise, reason)| {
                let promise = promise.restore(ctx).ok()?;
                if Some(&promise) == awaited {
                    None
                } else {
                    reason.restore(ctx).ok()
                }
            });
        missed.next().map_or(Ok(()), |reason| {
            Err(Leaving::of_thrown(&reason, &self.thrown))
        })
    }
}

/// The version of `QuickJS-ng`.
#[must_use]
pub fn quickjs_version() -> String {
    // SAFETY: a static text that ends in zero.
    unsafe { CStr::from_ptr(qjs::JS_GetVersion()) }
        .to_string_lossy()
        .into_owned()
}

fn named(file_name: &str) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.filename = Some(file_name.to_owned());
    options
}
