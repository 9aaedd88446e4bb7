//! The pieces that workers hash: the buffer that each one reads, and the callback for its digest.
//!
//! A buffer is pinned exactly as long as its piece is pending. Only the JS thread uses this; workers
//! know a piece by its number.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use rquickjs_core::{ArrayBuffer, Ctx, Function, Null, Persistent, Result, Value};

use crate::bytes::{JsBytes, Pins};
use crate::failure::Thrown;
use crate::workers::{Completion, Digester, Job};

struct PendingPiece {
    buffer: Persistent<Value<'static>>,
    callback: Persistent<Function<'static>>,
}

/// The pending pieces of a host, and the jobs among them that the workers do not have yet.
#[derive(Default)]
pub(crate) struct PendingPieces {
    next_number: Cell<u64>,
    by_number: RefCell<HashMap<u64, PendingPiece>>,
    unsubmitted: RefCell<Vec<Job>>,
    pins: Pins,
}

impl PendingPieces {
    /// Adds a piece. Its job is not submitted before the script's turn is over, so that pieces requested in
    /// one turn are hashed together.
    pub(crate) fn add<'js>(
        &self,
        piece: &JsBytes<'js>,
        digester: Digester,
        callback: Function<'js>,
    ) {
        let ctx = piece.buffer().ctx();
        let number = self
            .next_number
            .replace(self.next_number.get().wrapping_add(1));
        self.pins.pin(piece.buffer());
        let pending = PendingPiece {
            buffer: Persistent::save(ctx, piece.buffer().clone()),
            callback: Persistent::save(ctx, callback),
        };
        self.by_number.borrow_mut().insert(number, pending);
        let (start, bytes) = piece.region();
        self.unsubmitted
            .borrow_mut()
            .push(Job::new(number, digester, start, bytes));
    }

    pub(crate) fn has_unsubmitted(&self) -> bool {
        !self.unsubmitted.borrow().is_empty()
    }

    /// The jobs added since the last call.
    pub(crate) fn take_unsubmitted(&self) -> Vec<Job> {
        self.unsubmitted.take()
    }

    pub(crate) fn count(&self) -> usize {
        self.by_number.borrow().len()
    }

    /// Releases the buffer of a completed piece and calls its callback.
    pub(crate) fn complete(
        &self,
        ctx: &Ctx<'_>,
        completion: Completion,
        thrown: &Thrown,
    ) -> Result<()> {
        let Some(piece) = self.by_number.borrow_mut().remove(&completion.number) else {
            return Ok(());
        };
        self.pins.unpin(&piece.buffer.restore(ctx)?);
        match completion.digest {
            Ok(digest) => {
                let digest = ArrayBuffer::new_copy(ctx.clone(), digest)?;
                piece.callback.restore(ctx)?.call((Null, digest))
            }
            Err(failure) => piece
                .callback
                .restore(ctx)?
                .call((failure.error(ctx, thrown)?,)),
        }
    }

    /// Forgets all pieces. No worker may read any more.
    pub(crate) fn clear(&self, ctx: &Ctx<'_>) {
        self.unsubmitted.take();
        for (_, piece) in self.by_number.take() {
            if let Ok(buffer) = piece.buffer.restore(ctx) {
                self.pins.unpin(&buffer);
            }
        }
    }
}
