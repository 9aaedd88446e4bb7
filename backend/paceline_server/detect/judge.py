"""Implements `paceline-server judge DIR`: the server's analysis of raw streams on disk, without a database.

A stream that broke off is an error, never a pass. Exit codes: 0 pass, 2 a gate or arm rule failed,
3 inconclusive, 1 error.

DIR holds `run.json` (identity, options and conditions) and a `launch-NNN.WORKLOAD.jsonl` per launch (C1). With
two revisions (`paceline ab`), run.json names the `base` and streams are `launch-NNN.SIDE.WORKLOAD.jsonl`; the
JSON then also has `base`, `unaffected`, and `side` in its measurements.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from paceline_contract.events import ErrorEvent
from paceline_contract.manifest import Manifest
from paceline_contract.manifest_reader import ManifestError, read_manifest
from paceline_contract.outputs import ERROR, FailOn, exit_status, write_whole
from paceline_contract.text_names import stands_for

from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.facts import (
    JobFacts,
    JobIdentity,
    JobRequest,
    LaunchBuild,
    Look,
)
from paceline_server.detect.revisions import BASE, HEAD, Revision, analyse_revisions
from paceline_server.detect.stopping import list_undecided
from paceline_server.detect.table import write_table
from paceline_server.detect.unaffected import analyse_affected
from paceline_server.ingest.cases import Conditions
from paceline_server.ingest.stream import Stream, case_samples, read_stream
from paceline_server.stats.constants import LOOK_ALPHA
from paceline_server.stats.voids import VoidLimits

Present = Callable[[Analysis, str | None], None]

_FIELDS: dict[str, tuple[str, ...]] = {
    "checks": ("name", "ok", "detail"),
    "measurements": (
        "benchmark",
        "arm",
        "params",
        "metric",
        "unit",
        "direction",
        "launches",
        "n",
        "median",
        "mean",
        "p99",
        "min",
        "max",
        "sd",
    ),
    "comparisons": (
        "benchmark",
        "params",
        "metric",
        "arm",
        "reference",
        "launches",
        "blocks",
        "ratio",
        "lower",
        "upper",
        "share_slower",
        "verdict",
        "reason",
    ),
    "derived": (
        "name",
        "benchmark",
        "arm",
        "params",
        "value",
        "lower",
        "upper",
        "note",
    ),
    "unavailable": ("benchmark", "params", "arm", "reason"),
    "witnesses": ("benchmark", "params", "arm", "verdict", "words"),
    "gates": (
        "benchmark",
        "arm",
        "params",
        "metric",
        "statistic",
        "op",
        "level",
        "target",
        "actual",
        "verdict",
        "reason",
    ),
}


class JudgeError(Exception):
    """The directory cannot be judged; the message says what to do."""


@dataclass(frozen=True)
class RecordedRun:
    """The content of a directory."""

    manifest: Manifest
    facts: JobFacts
    identity: JobIdentity
    request: JobRequest
    look: int
    failure: str | None
    base: Revision | None = None
    """Set if two revisions are compared; `facts` is then that of the head."""
    unaffected: Mapping[str, str] = field(default_factory=dict)
    """Digests of the benchmarks that are not measured again, because both revisions have them in common."""
    is_batch_over: bool = True
    """Whether the last batch has all its planned launches."""


def judge(
    directory: Path,
    out: TextIO,
    *,
    manifest_path: Path | None = None,
    json_path: Path | None = None,
    revision: str | None = None,
    limits: VoidLimits | None = None,
    present: Present | None = None,
    fail_on: FailOn = "inconclusive",
) -> int:
    """Judge a directory, present the result and write the JSON to `json_path`; returns the exit status.

    `manifest_path` and `revision` override `run.json`. `present` gets the analysis and why it is not a whole
    measurement; without one the table is written to `out`. Errors are written to `out` as well.
    """
    try:
        recorded = read_directory(directory, manifest_path, revision)
        analysis = analyse_recorded(recorded, limits or VoidLimits())
        if json_path is not None:
            write_json(analysis, json_path)
        if present is None:
            write_table(analysis, out, recorded.failure)
        else:
            present(analysis, recorded.failure)
    except (JudgeError, ManifestError, OSError) as error:
        out.write(f"error: {error}\n")
        return ERROR
    return exit_status(None if recorded.failure else analysis.verdict, fail_on)


def list_undecided_in(directory: Path, limits: VoidLimits) -> list[str]:
    """Return the benchmarks of a measurement under way that more launches may decide. Raises JudgeError, ManifestError
    or OSError."""
    recorded = read_directory(directory, None, None)
    # It has not ended, which run.json calls a failure.
    recorded = replace(recorded, facts=replace(recorded.facts, broken=()), failure=None)
    analysis = analyse_recorded(recorded, limits)
    requested = recorded.request.benchmarks or list(recorded.manifest.benchmarks)
    return list_undecided(
        analysis,
        [name for name in requested if name not in recorded.unaffected],
        batch_is_over=recorded.is_batch_over,
    )


def analyse_recorded(recorded: RecordedRun, limits: VoidLimits) -> Analysis:
    """Analyse a directory as the server would."""
    analysis = _analyse_sides(recorded, Look(recorded.look, limits=limits))
    base = recorded.base.manifest if recorded.base is not None else None
    return replace(analysis, texts=_texts_of_names(recorded.manifest, base))


def _texts_of_names(*manifests: Manifest | None) -> dict[str, str]:
    """Return the printable titles that names with a digest were made of, which `paceline ab -- CMD` writes."""
    return {
        name: benchmark.title
        for manifest in filter(None, manifests)
        for name, benchmark in manifest.benchmarks.items()
        if stands_for(name, benchmark.title) and benchmark.title.isprintable()
    }


def _analyse_sides(recorded: RecordedRun, look: Look) -> Analysis:
    identity = recorded.identity
    base = recorded.base
    if base is None:
        return analyse(
            recorded.manifest, recorded.facts, identity, recorded.request, look
        )
    head = Revision(identity.revision, identity.artifact_hash, recorded.facts)
    return analyse_affected(
        recorded.manifest,
        (base, head),
        recorded.request,
        recorded.unaffected,
        lambda manifest, at_base, rest: analyse_revisions(
            manifest, at_base, head, identity, request=rest, look=look
        ),
        judges_gates=False,
    )


def read_directory(
    directory: Path, manifest_path: Path | None, revision: str | None
) -> RecordedRun:
    """Read a directory. Raises JudgeError, ManifestError or OSError."""
    run = _run_json(directory / "run.json")
    manifest = read_manifest(_manifest_of(run, manifest_path))
    paths = sorted(directory.glob("launch-*.jsonl"))
    streams = [read_stream(path) for path in paths]
    failure = _failure(run)
    broken = [failure] if failure else []
    broken += [
        _why_broken(path, stream)
        for path, stream in zip(paths, streams, strict=True)
        if not stream.ok
    ]
    unaffected = _mapping(run.get("unaffected"))
    if run.get("identical") is True and not paths:
        # Recordings of before say so of all benchmarks at once.
        unaffected = dict.fromkeys(manifest.benchmarks, run.get("artifact_hash"))
    if not paths and not unaffected:
        broken.append(f"there is no launch-NNN.WORKLOAD.jsonl in {directory.name}")
    for path, stream in zip(paths, streams, strict=True):
        suite = None if stream.start is None else stream.start.suite
        if suite not in (None, manifest.suite.name):
            raise JudgeError(
                f"{path.name} is of suite {suite!r}, the manifest of {manifest.suite.name!r}: pass the "
                "manifest with which the streams were measured"
            )
    options = _mapping(run.get("options"))
    launches = int(options.get("launches") or 0) or None
    launch_numbers = [stream.launch for stream in streams if stream.samples]
    look = 0 if launches is None else max(launch_numbers, default=0) // launches
    base_run = run.get("base")
    base = None
    if isinstance(base_run, Mapping):
        sides = [_side_of_stream(path) for path in paths]
        base_streams = [
            stream for stream, side in zip(streams, sides, strict=True) if side == BASE
        ]
        streams = [
            stream for stream, side in zip(streams, sides, strict=True) if side != BASE
        ]
        # Recordings of before have no manifest of the base.
        recorded_base = base_run.get("manifest")
        base = Revision(
            str(base_run.get("revision") or "unknown"),
            base_run.get("artifact_hash") or None,
            _facts(base_streams),
            None if recorded_base is None else read_manifest(recorded_base),
        )
    conditions = _conditions(run.get("conditions"))
    return RecordedRun(
        manifest=manifest,
        facts=replace(_facts(streams), conditions=conditions, broken=broken),
        base=base,
        identity=JobIdentity(
            suite=manifest.suite.name,
            revision=revision or str(run.get("revision") or "unknown"),
            artifact_hash=run.get("artifact_hash") or None,
            target=str(run.get("target") or "unknown"),
            started_at=_instant(run.get("started_at")),
        ),
        request=JobRequest(
            benchmarks=options.get("benchmarks") or None,
            params=_mapping(options.get("params")),
            launches=launches,
            rounds=int(options.get("rounds") or 0) or None,
            demonstration=manifest.is_demonstration(
                dict(_mapping(options.get("knobs")))
            ),
            knobs=_mapping(options.get("knobs")),
            target_kind="device" if run.get("target_kind") == "device" else "host",
            suppress=[str(name) for name in options.get("suppress") or ()],
            stop_when_sure=options.get("stop_when_sure") is True,
        ),
        look=min(look, len(LOOK_ALPHA) - 1),
        failure=broken[0] if broken else None,
        unaffected={str(name): str(of) for name, of in unaffected.items()},
        is_batch_over=launches is None
        or (1 + max(launch_numbers, default=-1)) % launches == 0,
    )


def _side_of_stream(path: Path) -> str:
    """Return the side that a stream's name says. Raises JudgeError."""
    side = path.name.split(".")[1]
    if side not in (BASE, HEAD):
        raise JudgeError(
            f"{path.name} names neither base nor head, but run.json is of two revisions"
        )
    return side


def _facts(streams: Sequence[Stream]) -> JobFacts:
    """Return the facts of a revision, from its launches."""
    return JobFacts(
        cases=case_samples(streams),
        checks=[check for stream in streams for check in stream.checks],
        warnings=[warning for stream in streams for warning in stream.warnings],
        announced=[case for stream in streams for case in stream.cases.values()],
        builds=[
            LaunchBuild(start.launch, start.workload, start.build)
            for start in (stream.start for stream in streams)
            if start is not None
        ],
    )


def _run_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise JudgeError(
            f"there is no {path.name} in {path.parent}: measure first, with `paceline run --out DIR`"
        )
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise JudgeError(f"{path} is not JSON ({error}): measure again") from None
    if not isinstance(run, dict):
        raise JudgeError(f"{path} is not a JSON object: measure again")
    return run


def _manifest_of(run: Mapping[str, Any], path: Path | None) -> dict[str, Any]:
    if path is not None:
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise JudgeError(f"{path}: {error}") from None
    recorded = run.get("manifest")
    if not isinstance(recorded, dict):
        raise JudgeError("run.json holds no manifest: pass --manifest suite.toml")
    return recorded


def _failure(run: Mapping[str, Any]) -> str | None:
    failure = run.get("failure")
    if not isinstance(failure, Mapping):
        return None
    return f"the measurement failed: {failure.get('cause')}: {failure.get('detail')}"


def _why_broken(path: Path, stream: Stream) -> str:
    if stream.fault is not None:
        return f"{path.name} line {stream.fault.line}: {stream.fault.code}: {stream.fault.detail}"
    assert isinstance(stream.terminal, ErrorEvent)  # noqa: S101 - a stream without a fault has a terminal
    return f"{path.name}: the workload reported {stream.terminal.code}: {stream.terminal.text}"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _conditions(rows: Any) -> list[Conditions]:
    readings = (
        [row for row in rows if isinstance(row, Mapping)]
        if isinstance(rows, Sequence)
        else []
    )
    return [
        Conditions(
            str(row.get("phase")),
            int(row.get("at_ms") or 0),
            dict(_mapping(row.get("values"))),
        )
        for row in readings
    ]


def _instant(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def report_json(analysis: Analysis) -> dict[str, Any]:
    """Return the report in the shape agreed with CI."""
    whole = analysis.report.model_dump(mode="json")
    head = {
        name: whole[name]
        for name in ("suite", "revision", "artifact_hash", "target", "started_at")
    }
    lists = {
        name: [{field: row[field] for field in fields} for row in whole[name]]
        for name, fields in _FIELDS.items()
    }
    audits = [
        {
            "benchmark": audit["benchmark"],
            "params": audit["params"],
            "name": finding["name"],
            "arms": finding["arms"],
            "detail": finding["text"],
        }
        for audit in whole["audits"]
        for finding in audit["findings"]
    ]
    report = {**head, **lists, "audits": audits}
    if whole["base"] is None:
        return report
    for row, shown in zip(report["measurements"], whole["measurements"], strict=True):
        row["side"] = shown["side"]
    return {**report, "base": whole["base"], "unaffected": whole["unaffected"]}


def write_json(analysis: Analysis, path: Path) -> None:
    """Write the report atomically."""
    text = json.dumps(
        report_json(analysis), indent=1, ensure_ascii=False, allow_nan=False
    )
    write_whole(path, text + "\n")
