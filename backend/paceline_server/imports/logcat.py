"""Imports logs that other tools printed: averages, computed differences, and the policy stated.

Every figure comes from a printed average and its rounding interval (I17). A row never has a
verdict, because an average hides its samples; nothing becomes a sample or a point.
"""

from __future__ import annotations

from typing import Any

from paceline_contract.units import quantity
from sqlalchemy.orm import Session

from paceline_server.detect.policies import service as policies
from paceline_server.imports.importer import Importer
from paceline_server.imports.schemas import (
    ImportDetailOut,
    ImportedAdviceOut,
    ImportedInForceOut,
    ImportedPolicyOut,
    ImportedRowOut,
    ImportIn,
    ImportOut,
    LogcatIn,
    PolicyIn,
    RowIn,
    SessionIn,
)
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.imports import ImportDocument

PARAM, REFERENCE = "batch", "fallback"
"""The param of the rows and their reference arm; a policy that is compared with has the same."""
INSUFFICIENT = "insufficient: no samples"


class LogcatImporter(Importer[LogcatIn]):
    """Importer of documents with averages; rows are computed on every read."""

    def columns(self, document: LogcatIn, request: ImportIn) -> dict[str, Any]:  # noqa: ARG002 - of the interface
        return {
            "file": document.file,
            "sha256": document.sha256,
            "document": document.model_dump(mode="json"),
            "devices": device_names(document),
            "row_count": sum(len(session.rows) for session in document.log.sessions),
        }

    def detail(
        self, session: Session, row: ImportDocument, summary: ImportOut
    ) -> ImportDetailOut:
        document = LogcatIn.model_validate(row.document)
        return ImportDetailOut(
            **summary.model_dump(),
            rows=imported_rows(document),
            policy=stated_policy(document.log.policy),
            advice=_advice(session, document),
            other_lines=other_lines(document),
            why_no_samples=document.why_no_samples,
        )


def imported_rows(document: LogcatIn) -> list[ImportedRowOut]:
    """Return every row, in the document's order."""
    log = document.log
    texts = {record.line: record.text for record in log.records if record.text}
    return [
        _row(f"{number}.{place}", session, row, texts)
        for number, session in enumerate(log.sessions, 1)
        for place, row in enumerate(session.rows, 1)
    ]


def device_name(session: SessionIn) -> str:
    """Return the device's name in the heading, or else its model."""
    if session.heading is not None:
        return session.heading.name
    return session.device or "an unnamed device"


def device_names(document: LogcatIn) -> list[str]:
    """Return `Xiaomi 13T Pro (API 35)`, each once, in the document's order."""
    return list(
        dict.fromkeys(_device_with_api(session) for session in document.log.sessions)
    )


def _device_with_api(session: SessionIn) -> str:
    return (
        device_name(session)
        if session.api is None
        else f"{device_name(session)} (API {session.api})"
    )


def stated_policy(policy: PolicyIn | None) -> ImportedPolicyOut | None:
    """Return the policy in force as the document states it."""
    if policy is None:
        return None
    unit = policy.unit or "items"
    words = f"native from {policy.minimum:,} {unit} on"
    if policy.warmup_rounds is not None:
        rounds = policy.warmup_rounds
        words += f", after {rounds:,} warm-up round{'' if rounds == 1 else 's'}"
    return ImportedPolicyOut(
        in_force=ImportedInForceOut(
            minimum=policy.minimum, warmup_rounds=policy.warmup_rounds
        ),
        unit=policy.unit,
        words=words,
        source_text=policy.text,
        lines=policy.lines,
    )


def other_lines(document: LogcatIn) -> list[str]:
    """Return lines that belong to no row: counters, headers, averages of only one arm."""
    used = {
        line
        for session in document.log.sessions
        for row in session.rows
        for line in row.lines
    }
    return [
        record.text
        for record in document.log.records
        if record.line not in used and record.text
    ]


def _row(
    name: str, session: SessionIn, row: RowIn, texts: dict[int, str]
) -> ImportedRowOut:
    average, reference = row.average, row.fallback
    share = None if reference.value == 0 else average.value / reference.value - 1.0
    low = None if reference.high == 0 else average.low / reference.high - 1.0
    high = None if reference.low == 0 else average.high / reference.low - 1.0
    delta = average.value - reference.value
    return ImportedRowOut(
        id=name,
        device=device_name(session),
        model=session.device,
        api=session.api,
        variant=None
        if session.heading is None or not session.heading.note
        else session.heading.note,
        warmup_rounds=None
        if session.heading is None
        else session.heading.warmup_rounds,
        params={"batch": row.batch},
        arm=row.arm,
        reference=REFERENCE,
        value_ns=average.value,
        value_printed=average.printed,
        reference_ns=reference.value,
        reference_printed=reference.printed,
        delta_ns=delta,
        delta_words=f"{'+' if delta > 0 else ''}{quantity(delta, 'ns')}",
        percent=_percent(share),
        lower_percent=_percent(low),
        upper_percent=_percent(high),
        words=_row_sentence(row.arm, share, low, high),
        verdict="insufficient",
        why=f"{INSUFFICIENT}, only averages: nobody knows how many, in which order and how far apart",
        raw=[texts[line] for line in sorted(row.lines) if line in texts],
    )


def _row_sentence(
    arm: str, share: float | None, low: float | None, high: float | None
) -> str:
    if share is None or low is None:
        return f"{REFERENCE} took no time as printed: nothing to compare with"
    if low <= 0.0 and (high is None or high >= 0.0):
        return f"{arm} and {REFERENCE} are equal as printed"
    return (
        f"{arm} {percent(share)} {'slower' if share > 0 else 'faster'} than {REFERENCE}"
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100.0 * share, 2)


def _advice(session: Session, document: LogcatIn) -> list[ImportedAdviceOut]:
    """Return the document's policy, compared with every measured target and with its own devices."""
    policy = document.log.policy
    if policy is None:
        return []
    return [
        *_advice_for_targets(session, policy),
        *map(_advice_for_device, device_names(document)),
    ]


def _advice_for_targets(session: Session, policy: PolicyIn) -> list[ImportedAdviceOut]:
    judged = policies.judge_on_targets(
        session,
        param=PARAM,
        reference=REFERENCE,
        minimum=policy.minimum,
        warmup_rounds=policy.warmup_rounds,
    )
    return [
        ImportedAdviceOut(
            target_id=on_target.advice.target_id,
            target_name=on_target.advice.target_name,
            simulated=on_target.simulated,
            suite=on_target.advice.suite,
            policy=on_target.advice.policy,
            params=on_target.advice.params,
            measured_at=on_target.advice.measured_at,
            holds=on_target.holds,
            words=on_target.words,
            why=on_target.why,
        )
        for on_target in judged
    ]


def _advice_for_device(device: str) -> ImportedAdviceOut:
    return ImportedAdviceOut(
        target_id=None,
        target_name=device,
        simulated=False,
        suite=None,
        policy=None,
        params={},
        measured_at=None,
        holds=None,
        words=f"On {device} nothing was measured here",
        why=f"{INSUFFICIENT} of this device; its averages cannot say where native begins to win",
    )
