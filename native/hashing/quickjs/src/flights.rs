//! Pieces that workers hash, as the JS thread sees them: which buffer each reads, and whom to
//! notify.
//!
//! A buffer is pinned exactly as long as its flight is open. Only the JS thread uses this; workers
//! know a flight by its number.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use rquickjs_core::{ArrayBuffer, Ctx, Function, Null, Persistent, Result, Value};

use crate::bytes::{JsBytes, Pins};
use crate::failure::Thrown;
use crate::workers::{Completion, Job, Way};

struct Flight {
    buffer: Persistent<Value<'static>>,
    done: Persistent<Function<'static>>,
}

/// The open flights of a host, and those not yet shown to the workers.
#[derive(Default)]
pub(crate) struct Flights {
    next: Cell<u64>,
    open: RefCell<HashMap<u64, Flight>>,
    boarding: RefCell<Vec<Job>>,
    pins: Pins,
}

impl Flights {
    /// Books a piece. Its job waits in [`Flights::board`] until the script's turn is over, so that pieces
    /// asked for together are hashed together.
    pub(crate) fn book<'js>(&self, piece: &JsBytes<'js>, way: Way, done: Function<'js>) {
        let ctx = piece.buffer().ctx();
        let number = self.next.replace(self.next.get().wrapping_add(1));
        self.pins.pin(piece.buffer());
        let flight = Flight {
            buffer: Persistent::save(ctx, piece.buffer().clone()),
            done: Persistent::save(ctx, done),
        };
        self.open.borrow_mut().insert(number, flight);
        let (start, bytes) = piece.region();
        self.boarding
            .borrow_mut()
            .push(Job::new(number, way, start, bytes));
    }

    /// Whether jobs wait for [`Flights::board`].
    pub(crate) fn boarding(&self) -> bool {
        !self.boarding.borrow().is_empty()
    }

    /// The jobs booked since the last call.
    pub(crate) fn board(&self) -> Vec<Job> {
        self.boarding.take()
    }

    pub(crate) fn open(&self) -> usize {
        self.open.borrow().len()
    }

    /// Lands a piece: releases its buffer and calls the script back.
    pub(crate) fn land(
        &self,
        ctx: &Ctx<'_>,
        completion: Completion,
        thrown: &Thrown,
    ) -> Result<()> {
        let Some(flight) = self.open.borrow_mut().remove(&completion.number) else {
            return Ok(());
        };
        self.pins.unpin(&flight.buffer.restore(ctx)?);
        match completion.digest {
            Ok(digest) => {
                let digest = ArrayBuffer::new_copy(ctx.clone(), digest)?;
                flight.done.restore(ctx)?.call((Null, digest))
            }
            Err(failure) => flight
                .done
                .restore(ctx)?
                .call((failure.error(ctx, thrown)?,)),
        }
    }

    /// Forgets every flight. No worker may read any more.
    pub(crate) fn clear(&self, ctx: &Ctx<'_>) {
        self.boarding.take();
        for (_, flight) in self.open.take() {
            if let Ok(buffer) = flight.buffer.restore(ctx) {
                self.pins.unpin(&buffer);
            }
        }
    }
}
