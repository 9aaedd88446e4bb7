//! The answers of the commands, as text for people and as JSON for programs.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use paceline_checkpoint::{
    BandState, Checkpoint, Damage, Difference, Exported, Lost, Repaired, Status, Taken, Verified,
    Waiting, hex,
};
use serde_json::{Value, json};

/// The exit status for damage; wrong arguments exit with 2.
const DAMAGED: u8 = 3;

/// The reply as text and as JSON, with the exit status.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) json: Value,
    pub(crate) status: u8,
    /// Standard output has other bytes; the text goes to standard error.
    pub(crate) to_stderr: bool,
}

impl Answer {
    pub(crate) fn done(text: String, json: Value) -> Self {
        Self {
            text,
            json,
            status: 0,
            to_stderr: false,
        }
    }

    /// Adds the damage of the store.
    pub(crate) fn with_damage(mut self, damage: Option<&Damage>) -> Self {
        if let Some(damage) = damage {
            self.text.push_str(&damage_text(damage));
            self.text
                .push_str("reading goes on; nothing is written until `repair` made a new log\n");
            let damage = damage_json(damage);
            self.json = match self.json {
                Value::Object(mut fields) => {
                    fields.insert("damage".to_owned(), damage);
                    Value::Object(fields)
                }
                intact => json!({"intact": intact, "damage": damage}),
            };
            self.status = DAMAGED;
        }
        self
    }
}

fn damage_text(damage: &Damage) -> String {
    let findings = damage
        .findings
        .iter()
        .map(|finding| format!("DAMAGED  {finding}\n"));
    findings
        .chain(damage.lost.iter().map(|lost| format!("LOST     {lost}\n")))
        .collect()
}

fn damage_json(damage: &Damage) -> Value {
    let lost = |lost: &Lost| json!({"epoch": lost.epoch, "name": lost.name, "why": lost.why});
    json!({"findings": damage.findings, "lost": damage.lost.iter().map(lost).collect::<Value>()})
}

pub(crate) fn repaired(repair: &Repaired) -> Answer {
    let sound = repair.damage.findings.is_empty() && repair.damage.lost.is_empty();
    let verdict = if sound {
        "nothing to repair"
    } else {
        "repaired"
    };
    let kept = count(repair.kept.len() as u64, "checkpoint");
    let text = format!("{}{verdict}: {kept} kept\n", damage_text(&repair.damage));
    let kept: Value = repair.kept.iter().map(checkpoint_json).collect();
    Answer::done(
        text,
        json!({"kept": kept, "damage": damage_json(&repair.damage)}),
    )
}

/// A time in RFC 3339, from nanoseconds since 1970.
fn format_time(created_ns: i64) -> String {
    let since = Duration::from_nanos(u64::try_from(created_ns).unwrap_or(0));
    humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string()
}

/// A number with its noun: "1 band", "2 bands".
pub(crate) fn count(count: u64, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}

#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn format_bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB"];
    let unit = (0..3)
        .take_while(|power| count >> (10 * (power + 1)) > 0)
        .count();
    if unit == 0 {
        format!("{count} B")
    } else {
        format!(
            "{:.1} {}",
            count as f64 / f64::from(1 << (10 * unit)),
            units[unit]
        )
    }
}

#[allow(clippy::cast_precision_loss, reason = "shown with two decimals")]
fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn checkpoint_json(checkpoint: &Checkpoint) -> Value {
    json!({
        "epoch": checkpoint.epoch, "name": checkpoint.name, "created_at": format_time(checkpoint.created_ns), "bands": checkpoint.bands,
        "bytes": checkpoint.bytes,
    })
}

pub(crate) fn taken(taken: &Taken) -> Answer {
    let Checkpoint {
        name, epoch, bands, ..
    } = &taken.checkpoint;
    let bands = count(*bands, "band");
    let (logged, read) = (
        format_bytes(taken.written_bytes),
        format_bytes(taken.read_bytes),
    );
    let (hashing, durable) = (milliseconds(taken.hash_ns), milliseconds(taken.append_ns));
    let text = format!(
        "{name:?} is kept (epoch {epoch}): {bands} changed, {logged} logged, {read} read; \
         {hashing:.2} ms of hashing, {durable:.2} ms until durable\n"
    );
    let json = json!({
        "checkpoint": checkpoint_json(&taken.checkpoint), "read_bytes": taken.read_bytes,
        "written_bytes": taken.written_bytes, "hash_ns": taken.hash_ns, "append_ns": taken.append_ns,
    });
    Answer::done(text, json)
}

pub(crate) fn listed(all: &[Checkpoint]) -> Answer {
    let line = |checkpoint: &Checkpoint| {
        format!(
            "{:>8}  {}  {:>6} bands  {:>10}  {}\n",
            checkpoint.epoch,
            format_time(checkpoint.created_ns),
            checkpoint.bands,
            format_bytes(checkpoint.bytes),
            checkpoint.name
        )
    };
    Answer::done(
        all.iter().map(line).collect(),
        all.iter().map(checkpoint_json).collect(),
    )
}

pub(crate) fn bands(all: &BTreeMap<String, BandState>) -> Answer {
    let line = |(name, state): (&String, &BandState)| format!("{}  {name}\n", hex(&state.id));
    let json = |(name, state): (&String, &BandState)| {
        let id = hex(&state.id);
        json!({"band": name, "id": id, "size": state.size})
    };
    Answer::done(
        all.iter().map(line).collect(),
        all.iter().map(json).collect(),
    )
}

pub(crate) fn verified(all: &[(String, Verified)]) -> Answer {
    let line = |(name, verified): &(String, Verified)| {
        let verdict = if verified.wrong.is_empty() {
            "good"
        } else {
            "DAMAGED"
        };
        let wrong: String = verified
            .wrong
            .iter()
            .map(|wrong| ["         ", wrong, "\n"].concat())
            .collect();
        format!(
            "{verdict}  {name}: {}, {}\n{wrong}",
            count(verified.bands, "band"),
            format_bytes(verified.bytes)
        )
    };
    let json = |(name, verified): &(String, Verified)| {
        let Verified {
            bands,
            bytes,
            wrong,
        } = verified;
        json!({"name": name, "bands": bands, "bytes": bytes, "wrong": wrong})
    };
    let status = if all.iter().all(|(_, verified)| verified.wrong.is_empty()) {
        0
    } else {
        DAMAGED
    };
    Answer {
        text: all.iter().map(line).collect(),
        json: all.iter().map(json).collect(),
        status,
        to_stderr: false,
    }
}

pub(crate) fn differences(all: &[Difference]) -> Answer {
    let state =
        |state: &Option<BandState>| state.map(|it| json!({"id": hex(&it.id), "size": it.size}));
    let line = |difference: &Difference| {
        let how = match (&difference.from, &difference.to) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        };
        format!(
            "{how:<8} {}  at most {}\n",
            difference.band,
            format_bytes(difference.bytes)
        )
    };
    let json = |difference: &Difference| {
        let (from, to) = (state(&difference.from), state(&difference.to));
        json!({"band": difference.band, "from": from, "to": to, "at_most_bytes": difference.bytes})
    };
    Answer::done(
        all.iter().map(line).collect(),
        all.iter().map(json).collect(),
    )
}

pub(crate) fn exported(exported: &Exported, archive: &Path) -> Answer {
    let Checkpoint { name, .. } = &exported.checkpoint;
    let (size, carried) = (format_bytes(exported.bytes), format_bytes(exported.carried));
    let bands = count(exported.bands, "band");
    let text = format!("{name:?}: {bands}, {size}, of which {carried} are not zeros\n");
    let json = json!({
        "checkpoint": checkpoint_json(&exported.checkpoint), "bands": exported.bands, "bytes": exported.bytes,
        "carried_bytes": exported.carried,
    });
    Answer {
        to_stderr: archive == Path::new("-"),
        ..Answer::done(text, json)
    }
}

pub(crate) fn status(status: &Status) -> Answer {
    let line = |(band, pages): &(String, Option<u64>)| match pages {
        Some(pages) => format!("  {band}: {} changed\n", count(*pages, "page")),
        None => format!("  {band}: changed, or may have\n"),
    };
    let text = format!(
        "{}, {}\n{}; epoch {}, base at epoch {} ({})\nlog: {}, {}; {} of records\n{}{}",
        count(status.bands, "band"),
        format_bytes(status.live_bytes),
        count(status.checkpoints, "checkpoint"),
        status.epoch,
        status.base_epoch,
        format_bytes(status.base_bytes),
        count(status.segments, "segment"),
        format_bytes(status.log_bytes),
        format_bytes(status.record_bytes),
        work_text(&status.work),
        status.dirty.iter().map(line).collect::<String>(),
    );
    let dirty: Value = status
        .dirty
        .iter()
        .map(|(band, pages)| json!({"band": band, "pages": pages}))
        .collect();
    let json = json!({
        "bands": status.bands, "live_bytes": status.live_bytes, "checkpoints": status.checkpoints, "epoch": status.epoch,
        "base_epoch": status.base_epoch, "segments": status.segments, "log_bytes": status.log_bytes,
        "record_bytes": status.record_bytes, "base_bytes": status.base_bytes, "dirty": dirty,
        "work": work_json(&status.work),
    });
    Answer::done(text, json)
}

fn work_text(waiting: &Waiting) -> String {
    let [urgent, soon, idle] = waiting.hash_queue;
    let fold = match waiting.fold {
        Some((made, left)) => format!("under way, {} made, {left} left", count(made, "band")),
        None => format!(
            "{} to move into the base",
            format_bytes(waiting.foldable_bytes)
        ),
    };
    format!(
        "hash trees: {} in memory ({}), to make {urgent} urgent, {soon} soon, {idle} idle; {} warmed, \
         {} found, {} loaded, {} missed\nfold: {fold}; {} done; {} in fragmented files ({})\n{}",
        waiting.trees,
        format_bytes(waiting.tree_bytes),
        waiting.warmed,
        waiting.hits,
        waiting.loads,
        waiting.misses,
        waiting.folds,
        count(waiting.fragmented, "band"),
        count(waiting.patched_pages, "page"),
        waiting
            .failure
            .as_ref()
            .map(|why| format!("the last job failed: {why}\n"))
            .unwrap_or_default(),
    )
}

fn work_json(waiting: &Waiting) -> Value {
    let [urgent, soon, idle] = waiting.hash_queue;
    json!({
        "hash_queue": {"urgent": urgent, "soon": soon, "idle": idle},
        "trees": waiting.trees, "tree_bytes": waiting.tree_bytes, "warmed": waiting.warmed, "hits": waiting.hits,
        "loads": waiting.loads, "misses": waiting.misses, "foldable_bytes": waiting.foldable_bytes,
        "fold": waiting.fold.map(|(made, left)| json!({"made": made, "left": left})), "folds": waiting.folds,
        "fragmented_bands": waiting.fragmented, "patched_pages": waiting.patched_pages, "failure": waiting.failure,
    })
}
