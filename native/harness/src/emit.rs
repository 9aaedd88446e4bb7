//! Writes events of the bench stream.
//!
//! Lines collect in memory and are written only in [`Emitter::flush`], which `session` calls
//! between rounds (I3). The type is private to this crate, so timed code of a workload cannot hold
//! one.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json, json};

use crate::event::{Event, Metric, Params, VERSION, Value};

/// Flush early when this many bytes wait.
const FLUSH_BYTES: usize = 32 * 1024;
/// The interval of flushing: short enough for a live page, too long to wake the reader after every round.
const FLUSH_EVERY: Duration = Duration::from_millis(200);

pub(crate) struct Emitter<W: Write> {
    out: W,
    pending: Vec<u8>,
    flushed: Instant,
}

impl<W: Write> Emitter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            pending: Vec::with_capacity(2 * FLUSH_BYTES),
            flushed: Instant::now(),
        }
    }

    pub(crate) fn push(&mut self, event: &Event) {
        self.line(&to_json(event));
    }

    /// Writes any object as a line, for the answer to `--list`.
    pub(crate) fn line(&mut self, object: &Json) {
        self.pending
            .extend_from_slice(object.to_string().as_bytes());
        self.pending.push(b'\n');
    }

    /// Writes between rounds, if enough bytes wait or enough time has passed.
    pub(crate) fn round_ended(&mut self) -> io::Result<()> {
        if self.pending.len() >= FLUSH_BYTES || self.flushed.elapsed() >= FLUSH_EVERY {
            self.flush()?;
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.pending)?;
        self.out.flush()?;
        self.pending.clear();
        self.flushed = Instant::now();
        Ok(())
    }
}

/// Replaces U+0000, which the stream does not allow, by U+FFFD.
fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(crate) fn params_json(params: &Params) -> Json {
    let entries = params.iter().map(|(name, value)| {
        let value = match value {
            Value::Int(value) => json!(value),
            Value::Text(value) => json!(clean(value)),
        };
        (name.clone(), value)
    });
    Json::Object(entries.collect())
}

pub(crate) fn metrics_json(metrics: &[Metric]) -> Json {
    let metric = |m: &Metric| json!({"name": m.name, "unit": m.unit.wire(), "direction": m.direction.wire()});
    Json::Array(metrics.iter().map(metric).collect())
}

fn texts_json(texts: &[(String, String)]) -> Json {
    Json::Object(
        texts
            .iter()
            .map(|(name, text)| (clean(name), json!(clean(text))))
            .collect(),
    )
}

fn to_json(event: &Event) -> Json {
    match event {
        Event::Start {
            suite,
            workload,
            launch,
            seed,
            build,
            clock_name,
            resolution_ns,
            overhead_ns,
        } => {
            json!({
                "type": "start", "v": VERSION, "suite": suite, "workload": workload,
            "launch": launch, "seed": seed,
                "build": texts_json(build),
                "clock": {"name": clock_name, "resolution_ns": resolution_ns, "overhead_ns": overhead_ns},
            })
        }
        Event::Case {
            case,
            benchmark,
            arm,
            params,
            metrics,
            items_per_iteration,
            bytes_per_iteration,
            unavailable,
        } => {
            let mut object = json!({
                "type": "case", "case": case, "benchmark": benchmark, "arm": arm,
                "params": params_json(params), "metrics": metrics_json(metrics),
            });
            add(
                &mut object,
                "items_per_iteration",
                items_per_iteration.map(Json::from),
            );
            add(
                &mut object,
                "bytes_per_iteration",
                bytes_per_iteration.map(Json::from),
            );
            add(
                &mut object,
                "unavailable",
                unavailable.as_ref().map(|reason| json!(clean(reason))),
            );
            object
        }
        Event::Samples {
            case,
            metric,
            launch,
            round,
            position,
            phase,
            iterations,
            values,
            t_ns,
            work,
        } => {
            let mut object = json!({
                "type": "samples", "case": case, "metric": metric, "launch": launch, "round": round,
                "position": position, "phase": phase.wire(), "iterations": iterations, "values": values,
                "t_ns": t_ns,
            });
            let counters = work.iter().map(|(name, count)| (clean(name), json!(count)));
            add(
                &mut object,
                "work",
                (!work.is_empty()).then(|| Json::Object(counters.collect())),
            );
            object
        }
        Event::Check(check) => {
            json!({"type": "check", "name": check.name, "ok": check.ok, "detail": clean(&check.detail)})
        }
        Event::Progress { done, total } => {
            json!({"type": "progress", "done": done, "total": total})
        }
        Event::Warning { code, text } => {
            json!({"type": "warning", "code": code, "text": clean(text)})
        }
        Event::Done => json!({"type": "done"}),
        Event::Error { code, text } => json!({"type": "error", "code": code, "text": clean(text)}),
    }
}

fn add(object: &mut Json, name: &str, value: Option<Json>) {
    if let (Some(value), Some(fields)) = (
        value,
        object.as_object_mut() as Option<&mut Map<String, Json>>,
    ) {
        fields.insert(name.to_owned(), value);
    }
}
