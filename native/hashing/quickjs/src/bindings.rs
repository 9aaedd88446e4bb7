//! Defines the global object `paceline` that scripts call, with one function per way of hashing.
//!
//! `js/native-hasher.js` builds `NativeHasher` on it.
//!
//! | function | bytes are copied | digested by |
//! | --- | --- | --- |
//! | `sha1Copied(buffer)` | into a new array | the hasher |
//! | `sha1Reused(buffer)` | into a reused array | the hasher |
//! | `sha1Direct(view)` | never | the hasher |
//! | `sha1BatchCopied(buffers)` | into new arrays | the hasher, in one call |
//! | `sha1Native(view)` | never | here, one stream |
//! | `sha1BatchLanes(views)` | never | here, side by side on this thread |
//! | `sha1BatchCrew(views)` | never | here, side by side on several threads |
//! | `sha1AsyncDirect(view, done)` | never | the hasher, on a worker |
//! | `sha1AsyncNative(view, done)` | never | here, on a worker, side by side |
//!
//! `done(error, digest)` runs later on the JS thread. A wrong argument throws a `TypeError` or
//! `RangeError` before anything is hashed.

use std::rc::Rc;
use std::time::Instant;

use paceline_hashing_core::{Algorithm, BatchError, Choice, Engine, digest_buffers};
use rquickjs_core::function::IntoJsFunc;
use rquickjs_core::{Array, ArrayBuffer, Ctx, Error, Exception, Function, Object, Result, Value};

use crate::bytes::{JsBytes, elements};
use crate::failure::Failure;
use crate::hasher::{DIGEST_BYTES, Digest};
use crate::host::Shared;
use crate::workers::Digester;

/// Limits the buffers that one call pins; no engine hashes nearly as many at once.
pub const MOST_PIECES_PER_CALL: usize = 1024;

pub(crate) fn install<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> Result<()> {
    let paceline = Object::new(ctx.clone())?;
    install_single(&paceline, shared)?;
    install_batches(&paceline, shared)?;
    install_async(&paceline, shared)?;
    let s = Rc::clone(shared);
    define(&paceline, "now", move || now(&s))?;
    let s = Rc::clone(shared);
    define(&paceline, "log", move |ctx: Ctx<'js>, line: String| {
        s.hasher
            .log(&line)
            .map_err(|failure| failure.throw(&ctx, &s.thrown))
    })?;
    define(&paceline, "collectGarbage", |ctx: Ctx<'js>| ctx.run_gc())?;
    ctx.globals().set("paceline", paceline)
}

fn define<'js, P>(
    to: &Object<'js>,
    name: &str,
    function: impl IntoJsFunc<'js, P> + 'js,
) -> Result<()> {
    to.set(
        name,
        Function::new(to.ctx().clone(), function)?.with_name(name)?,
    )
}

/// Nanoseconds since the host was opened. A double is exact to the nanosecond for 104 days.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 ns")]
fn now(shared: &Shared) -> f64 {
    shared.opened.elapsed().as_nanos() as f64
}

fn install_single<'js>(to: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let s = Rc::clone(shared);
    define(
        to,
        "sha1Copied",
        move |ctx: Ctx<'js>, buffer: Value<'js>| {
            let bytes = s.buffer(&buffer)?;
            // SAFETY: no script runs during the call: the host refuses to be entered again.
            s.give(&ctx, s.hasher.copied(unsafe { bytes.as_slice() }))
        },
    )?;
    let s = Rc::clone(shared);
    define(
        to,
        "sha1Reused",
        move |ctx: Ctx<'js>, buffer: Value<'js>| {
            let bytes = s.buffer(&buffer)?;
            // SAFETY: as above.
            s.give(&ctx, s.hasher.reused(unsafe { bytes.as_slice() }))
        },
    )?;
    let s = Rc::clone(shared);
    define(to, "sha1Direct", move |ctx: Ctx<'js>, view: Value<'js>| {
        let bytes = s.view(&view)?;
        let (start, length) = bytes.region();
        // SAFETY: as above; `bytes` lives until the end of this function.
        let digest = s.give(&ctx, unsafe { s.hasher.direct(start, length) });
        drop(bytes);
        digest
    })?;
    let s = Rc::clone(shared);
    define(to, "sha1Native", move |ctx: Ctx<'js>, view: Value<'js>| {
        let bytes = s.view(&view)?;
        let mut digest = [0; DIGEST_BYTES];
        // SAFETY: as above.
        let pieces = [unsafe { bytes.as_slice() }];
        let outcome =
            s.timed(|| digest_buffers(Algorithm::Sha1, Choice::Best, &pieces, &mut digest));
        s.give(&ctx, outcome.map(|_| digest).map_err(Failure::new))
    })
}

fn install_batches<'js>(to: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let s = Rc::clone(shared);
    define(
        to,
        "sha1BatchCopied",
        move |ctx: Ctx<'js>, buffers: Object<'js>| {
            let buffers = elements(&buffers, MOST_PIECES_PER_CALL)?;
            let bytes: Vec<_> = buffers
                .iter()
                .map(|buffer| s.buffer(buffer))
                .collect::<Result<_>>()?;
            // SAFETY: no script runs from here to the end of the call.
            let pieces: Vec<_> = bytes
                .iter()
                .map(|bytes| unsafe { bytes.as_slice() })
                .collect();
            s.give_all(&ctx, s.hasher.batch(&pieces))
        },
    )?;
    let s = Rc::clone(shared);
    define(
        to,
        "sha1BatchLanes",
        move |ctx: Ctx<'js>, views: Object<'js>| {
            s.batch(&ctx, &views, |pieces, digests| {
                digest_buffers(Algorithm::Sha1, Choice::Best, pieces, digests)
            })
        },
    )?;
    let s = Rc::clone(shared);
    define(
        to,
        "sha1BatchCrew",
        move |ctx: Ctx<'js>, views: Object<'js>| {
            s.batch(&ctx, &views, |pieces, digests| {
                s.crew
                    .digest_buffers(Algorithm::Sha1, Choice::Best, pieces, digests)
            })
        },
    )
}

fn install_async<'js>(to: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    for (name, digester) in [
        ("sha1AsyncDirect", Digester::Hasher),
        ("sha1AsyncNative", Digester::Native),
    ] {
        let s = Rc::clone(shared);
        let digest = move |view: Value<'js>, done: Function<'js>| {
            let bytes = s.view(&view)?;
            s.pending_pieces.add(&bytes, digester, done);
            Ok::<_, Error>(())
        };
        define(to, name, digest)?;
    }
    Ok(())
}

impl Shared {
    fn view<'js>(&self, view: &Value<'js>) -> Result<JsBytes<'js>> {
        let resizable = self.resizable.borrow();
        JsBytes::of_view(view, resizable.as_ref().ok_or_else(|| closing(view.ctx()))?)
    }

    fn buffer<'js>(&self, buffer: &Value<'js>) -> Result<JsBytes<'js>> {
        let resizable = self.resizable.borrow();
        JsBytes::of_buffer(
            buffer,
            resizable.as_ref().ok_or_else(|| closing(buffer.ctx()))?,
        )
    }

    fn batch<'js>(
        &self,
        ctx: &Ctx<'js>,
        views: &Object<'js>,
        digest: impl FnOnce(&[&[u8]], &mut [u8]) -> std::result::Result<Engine, BatchError>,
    ) -> Result<Array<'js>> {
        let views = elements(views, MOST_PIECES_PER_CALL)?;
        let bytes: Vec<_> = views
            .iter()
            .map(|view| self.view(view))
            .collect::<Result<_>>()?;
        // SAFETY: no script runs from here to the end of the call.
        let pieces: Vec<_> = bytes
            .iter()
            .map(|bytes| unsafe { bytes.as_slice() })
            .collect();
        let mut digests = vec![[0; DIGEST_BYTES]; pieces.len()];
        let outcome = self.timed(|| digest(&pieces, digests.as_flattened_mut()));
        self.give_all(ctx, outcome.map(|_| digests).map_err(Failure::new))
    }

    /// Runs a native digest and adds the time it took.
    fn timed<T>(&self, digest: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = digest();
        let elapsed = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.digest_ns
            .set(self.digest_ns.get().saturating_add(elapsed));
        result
    }

    /// Returns a digest to the script in a new `ArrayBuffer`, or throws the failure.
    fn give<'js>(
        &self,
        ctx: &Ctx<'js>,
        digest: std::result::Result<Digest, Failure>,
    ) -> Result<ArrayBuffer<'js>> {
        let digest = digest.map_err(|failure| failure.throw(ctx, &self.thrown))?;
        ArrayBuffer::new_copy(ctx.clone(), digest)
    }

    fn give_all<'js>(
        &self,
        ctx: &Ctx<'js>,
        digests: std::result::Result<Vec<Digest>, Failure>,
    ) -> Result<Array<'js>> {
        let digests = digests.map_err(|failure| failure.throw(ctx, &self.thrown))?;
        let array = Array::new(ctx.clone())?;
        for (index, digest) in digests.into_iter().enumerate() {
            array.set(index, ArrayBuffer::new_copy(ctx.clone(), digest)?)?;
        }
        Ok(array)
    }
}

fn closing(ctx: &Ctx<'_>) -> Error {
    Exception::throw_internal(ctx, "the host is closing")
}
