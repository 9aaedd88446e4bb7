//! The answers of the commands, as text for people and as JSON for programs.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use paceline_checkpoint::{
    BandState, Checkpoint, Damage, Difference, Exported, Lost, Repaired, Status, Taken, Verified,
    Waiting, hex,
};
use serde_json::{Value, json};

/// Exit status of damage that was found; wrong arguments exit with 2.
const DAMAGED: u8 = 3;

/// The reply as text and as JSON, with the exit status.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) json: Value,
    pub(crate) status: u8,
    /// Standard output has other bytes; this goes to standard error.
    pub(crate) aside: bool,
}

impl Answer {
    pub(crate) fn done(text: String, json: Value) -> Self {
        Self {
            text,
            json,
            status: 0,
            aside: false,
        }
    }

    /// The same, with what is wrong with the store.
    pub(crate) fn with_damage(mut self, damage: Option<&Damage>) -> Self {
        if let Some(damage) = damage {
            self.text.push_str(&of_damage(damage));
            self.text
                .push_str("reading goes on; nothing is written until `repair` made a new log\n");
            let damage = json_of_damage(damage);
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

fn of_damage(damage: &Damage) -> String {
    let findings = damage
        .findings
        .iter()
        .map(|finding| format!("DAMAGED  {finding}\n"));
    findings
        .chain(damage.lost.iter().map(|lost| format!("LOST     {lost}\n")))
        .collect()
}

fn json_of_damage(damage: &Damage) -> Value {
    let lost = |one: &Lost| json!({"epoch": one.epoch, "name": one.name, "why": one.why});
    json!({"findings": damage.findings, "lost": damage.lost.iter().map(lost).collect::<Value>()})
}

pub(crate) fn repaired(one: &Repaired) -> Answer {
    let sound = one.damage.findings.is_empty() && one.damage.lost.is_empty();
    let verdict = if sound {
        "nothing to repair"
    } else {
        "repaired"
    };
    let kept = count(one.kept.len() as u64, "checkpoint");
    let text = format!("{}{verdict}: {kept} kept\n", of_damage(&one.damage));
    let kept: Value = one.kept.iter().map(of_checkpoint).collect();
    Answer::done(
        text,
        json!({"kept": kept, "damage": json_of_damage(&one.damage)}),
    )
}

/// A time as people write it, of nanoseconds since 1970.
fn when(created_ns: i64) -> String {
    let since = Duration::from_nanos(u64::try_from(created_ns).unwrap_or(0));
    humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string()
}

/// A number of things: "1 band", "2 bands".
pub(crate) fn count(count: u64, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}

#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn bytes(count: u64) -> String {
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
fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn of_checkpoint(one: &Checkpoint) -> Value {
    json!({
        "epoch": one.epoch, "name": one.name, "created_at": when(one.created_ns), "bands": one.bands,
        "bytes": one.bytes,
    })
}

pub(crate) fn taken(one: &Taken) -> Answer {
    let Checkpoint {
        name, epoch, bands, ..
    } = &one.checkpoint;
    let bands = count(*bands, "band");
    let (logged, read) = (bytes(one.written_bytes), bytes(one.read_bytes));
    let (hashing, durable) = (ms(one.hash_ns), ms(one.append_ns));
    let text = format!(
        "{name:?} is kept (epoch {epoch}): {bands} changed, {logged} logged, {read} read; \
         {hashing:.2} ms of hashing, {durable:.2} ms until durable\n"
    );
    let json = json!({
        "checkpoint": of_checkpoint(&one.checkpoint), "read_bytes": one.read_bytes,
        "written_bytes": one.written_bytes, "hash_ns": one.hash_ns, "append_ns": one.append_ns,
    });
    Answer::done(text, json)
}

pub(crate) fn listed(all: &[Checkpoint]) -> Answer {
    let line = |one: &Checkpoint| {
        format!(
            "{:>8}  {}  {:>6} bands  {:>10}  {}\n",
            one.epoch,
            when(one.created_ns),
            one.bands,
            bytes(one.bytes),
            one.name
        )
    };
    Answer::done(
        all.iter().map(line).collect(),
        all.iter().map(of_checkpoint).collect(),
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
    let line = |(name, one): &(String, Verified)| {
        let verdict = if one.wrong.is_empty() {
            "good"
        } else {
            "DAMAGED"
        };
        let wrong: String = one
            .wrong
            .iter()
            .map(|wrong| ["         ", wrong, "\n"].concat())
            .collect();
        format!(
            "{verdict}  {name}: {}, {}\n{wrong}",
            count(one.bands, "band"),
            bytes(one.bytes)
        )
    };
    let json = |(name, one): &(String, Verified)| {
        let Verified {
            bands,
            bytes,
            wrong,
        } = one;
        json!({"name": name, "bands": bands, "bytes": bytes, "wrong": wrong})
    };
    let status = if all.iter().all(|(_, one)| one.wrong.is_empty()) {
        0
    } else {
        DAMAGED
    };
    Answer {
        text: all.iter().map(line).collect(),
        json: all.iter().map(json).collect(),
        status,
        aside: false,
    }
}

pub(crate) fn differences(all: &[Difference]) -> Answer {
    let state =
        |state: &Option<BandState>| state.map(|it| json!({"id": hex(&it.id), "size": it.size}));
    let line = |one: &Difference| {
        let how = match (&one.from, &one.to) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        };
        format!("{how:<8} {}  at most {}\n", one.band, bytes(one.bytes))
    };
    let json = |one: &Difference| {
        let (from, to) = (state(&one.from), state(&one.to));
        json!({"band": one.band, "from": from, "to": to, "at_most_bytes": one.bytes})
    };
    Answer::done(
        all.iter().map(line).collect(),
        all.iter().map(json).collect(),
    )
}

pub(crate) fn exported(one: &Exported, archive: &Path) -> Answer {
    let Checkpoint { name, .. } = &one.checkpoint;
    let (size, carried) = (bytes(one.bytes), bytes(one.carried));
    let bands = count(one.bands, "band");
    let text = format!("{name:?}: {bands}, {size}, of which {carried} are not zeros\n");
    let json = json!({
        "checkpoint": of_checkpoint(&one.checkpoint), "bands": one.bands, "bytes": one.bytes,
        "carried_bytes": one.carried,
    });
    Answer {
        aside: archive == Path::new("-"),
        ..Answer::done(text, json)
    }
}

pub(crate) fn status(one: &Status) -> Answer {
    let line = |(band, pages): &(String, Option<u64>)| match pages {
        Some(pages) => format!("  {band}: {} changed\n", count(*pages, "page")),
        None => format!("  {band}: changed, or may have\n"),
    };
    let text = format!(
        "{}, {}\n{}; epoch {}, base at epoch {} ({})\nlog: {}, {}; {} of records\n{}{}",
        count(one.bands, "band"),
        bytes(one.live_bytes),
        count(one.checkpoints, "checkpoint"),
        one.epoch,
        one.base_epoch,
        bytes(one.base_bytes),
        count(one.segments, "segment"),
        bytes(one.log_bytes),
        bytes(one.record_bytes),
        work(&one.work),
        one.dirty.iter().map(line).collect::<String>(),
    );
    let dirty: Value = one
        .dirty
        .iter()
        .map(|(band, pages)| json!({"band": band, "pages": pages}))
        .collect();
    let json = json!({
        "bands": one.bands, "live_bytes": one.live_bytes, "checkpoints": one.checkpoints, "epoch": one.epoch,
        "base_epoch": one.base_epoch, "segments": one.segments, "log_bytes": one.log_bytes,
        "record_bytes": one.record_bytes, "base_bytes": one.base_bytes, "dirty": dirty,
        "work": of_work(&one.work),
    });
    Answer::done(text, json)
}

fn work(one: &Waiting) -> String {
    let [urgent, soon, idle] = one.hash_queue;
    let fold = match one.fold {
        Some((made, left)) => format!("under way, {} made, {left} left", count(made, "band")),
        None => format!("{} to move into the base", bytes(one.foldable_bytes)),
    };
    format!(
        "hash trees: {} in memory ({}), to make {urgent} urgent, {soon} soon, {idle} idle; {} warmed, \
         {} found, {} loaded, {} missed\nfold: {fold}; {} done; {} in fragmented files ({})\n{}",
        one.trees,
        bytes(one.tree_bytes),
        one.warmed,
        one.hits,
        one.loads,
        one.misses,
        one.folds,
        count(one.fragmented, "band"),
        count(one.patched_pages, "page"),
        one.failure
            .as_ref()
            .map(|why| format!("the last job failed: {why}\n"))
            .unwrap_or_default(),
    )
}

fn of_work(one: &Waiting) -> Value {
    let [urgent, soon, idle] = one.hash_queue;
    json!({
        "hash_queue": {"urgent": urgent, "soon": soon, "idle": idle},
        "trees": one.trees, "tree_bytes": one.tree_bytes, "warmed": one.warmed, "hits": one.hits,
        "loads": one.loads, "misses": one.misses, "foldable_bytes": one.foldable_bytes,
        "fold": one.fold.map(|(made, left)| json!({"made": made, "left": left})), "folds": one.folds,
        "fragmented_bands": one.fragmented, "patched_pages": one.patched_pages, "failure": one.failure,
    })
}
