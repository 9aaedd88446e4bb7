"""Raises alerts when a shipped usage policy no longer picks the faster arm.

Advice that turns wrong only raises a suspected alert; a confirmation run of the same
revision decides before people hear of it (I13). The advice of a confirmation is computed
and never stored.

    holds: true ─▶ false ─▶ suspected ─ cool-down ─▶ confirmation run ─┬─ false ─▶ open, told
                                                                       ├─ true ──▶ unconfirmed
    open ─ a later job says true ─▶ fixed                              └─ null ──▶ inconclusive
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.candidates import (
    ask_for_confirmation,
    is_being_confirmed,
    raise_alert,
)
from paceline_server.alerts.changes.history_sentences import case_place
from paceline_server.alerts.history import SYSTEM, add_event, change_state
from paceline_server.alerts.states import Event
from paceline_server.alerts.topics import NOTIFY
from paceline_server.detect.policies import service as policies
from paceline_server.detect.service import Role
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids
from paceline_server.stats.constants import POLICY_CONFIDENCE
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Alert, Finding
from paceline_server.store.tables.history import PolicyAdvice
from paceline_server.store.tables.jobs import Job, Run

METHOD = "policy-advice/1"
RULE = {
    "name": "policy-in-force",
    "version": 1,
    "kind": "policy",
    "text": "The usage policy that is shipped picks the faster arm on every target, after enough warm-up.",
}


def cause_key(row: PolicyAdvice) -> str:
    """The cause of an alert: one policy at one point of the other params, on one target."""
    return json.dumps(
        ["policy", row.suite, row.policy, row.target_id, row.params_key],
        separators=(",", ":"),
    )


def evaluate(session: Session, job_id: str) -> None:
    """Raise, confirm or close alerts by the policy advice that a baseline job produced."""
    for row in policies.advice_of_job(session, job_id):
        if _is_known(session, row):
            continue
        alert = queries.lock_living_alert(session, cause_key(row))
        if row.holds is False:
            _handle_wrong_advice(session, row, alert)
        elif row.holds and alert is not None and alert.state != "suspected":
            event = Event.refute if alert.state == "inconclusive" else Event.recover
            _store_advice(session, alert, "recovery", row)
            change_state(session, alert, event, SYSTEM, str(row.advice["words"]))


def _is_known(session: Session, row: PolicyAdvice) -> bool:
    """Whether the newest alert of this cause has this job as evidence already."""
    newest = queries.newest_of_cause(session, cause_key(row))
    return newest is not None and queries.has_finding(session, newest.id, row.job_id)


def _handle_wrong_advice(
    session: Session, row: PolicyAdvice, alert: Alert | None
) -> None:
    words = str(row.advice["words"])
    if alert is None:
        before = policies.advice_before(session, row)
        if (
            before is not None
            and before.holds is False
            and not _ended_since(session, before)
        ):
            return
        alert = _raise_alert(session, row)
        if alert is None:
            return
    else:
        add_event(session, alert, "found_again", SYSTEM, words)
        alert.words = words
        if alert.state == "inconclusive":
            change_state(session, alert, Event.retry, SYSTEM)
            alert.run_id = row.run_id
            ask_for_confirmation(session, alert)
    _store_advice(session, alert, "candidate", row)


def _ended_since(session: Session, before: PolicyAdvice) -> bool:
    """Whether the cause's alert was closed after the advice `before`; wrong advice is news again then."""
    newest = queries.newest_of_cause(session, cause_key(before))
    ended = newest is not None and newest.state in ("unconfirmed", "fixed")
    return ended and newest is not None and newest.updated_at >= before.measured_at


def _raise_alert(session: Session, row: PolicyAdvice) -> Alert | None:
    """A suspected alert; None when another transaction raised it first."""
    at, advice = clock.now(), row.advice
    name = queries.spoken_name(session, row.target_id)
    alert = Alert(
        id=ids.new_id("alt"),
        cause_key=cause_key(row),
        state="suspected",
        kind="policy",
        cause=None,
        title=f"Policy {row.policy} of {row.suite} is not right on {name}",
        suite=row.suite,
        benchmark=advice["benchmark"],
        arm=advice["arm"],
        reference=advice["reference"],
        metric=advice["metric"],
        target_id=row.target_id,
        demonstration=False,
        shadow=False,
        rule=RULE,
        words=advice["words"],
        ratio=None,
        lower=None,
        upper=None,
        run_id=row.run_id,
        created_at=at,
        updated_at=at,
    )
    return raise_alert(session, alert, f"{advice['words']}: {advice['why']}")


def start_confirmation(session: Session, alert: Alert) -> None:
    """After the cool-down of a locked alert, request a run of the same revision in a new session (I13)."""
    if alert.state != "suspected":
        return
    if is_being_confirmed(session, alert):
        return
    advice = queries.newest_numbers(session, alert.id)["advice"]
    cold = advice["cold"]["benchmark"] if advice["cold"] else None
    *_, point = json.loads(alert.cause_key)
    run = jobs.confirmation_run(
        session,
        alert_id=alert.id,
        original_run_id=alert.run_id,
        benchmarks=[benchmark for benchmark in (alert.benchmark, cold) if benchmark],
        params={name: [value] for name, value in json.loads(point).items()},
        target_id=alert.target_id,
        not_before=clock.now(),
    )
    alert.confirmation_run_id = run.id
    add_event(session, alert, "confirmation_requested", SYSTEM, f"run {run.id}")


def decide_confirmation(
    session: Session, alert: Alert, job: Job, run: Run, advised: Sequence[PolicyAdvice]
) -> None:
    """Decide a locked alert whose confirmation ended; `advised` is the advice from that run's samples."""
    if alert.confirmation_run_id != run.id or alert.state not in (
        "suspected",
        "inconclusive",
    ):
        return
    if job.state != "done":
        reason = jobs.reason_of_end(job)
        change_state(
            session,
            alert,
            Event.undecide,
            SYSTEM,
            f"the confirmation ended: {job.state}: {reason}",
        )
        return
    _, _, policy, _, point = json.loads(alert.cause_key)
    again = next(
        (
            advice
            for advice in advised
            if (advice.policy, advice.params_key) == (policy, point)
        ),
        None,
    )
    if again is None or again.holds is None:
        why = "it could not say" if again is None else str(again.advice["why"])
        change_state(
            session,
            alert,
            Event.undecide,
            SYSTEM,
            f"the second session left it open: {why}",
        )
        return
    _store_advice(session, alert, "confirmation", again)
    if again.holds:
        change_state(session, alert, Event.refute, SYSTEM, str(again.advice["why"]))
        return
    alert.words = str(again.advice["words"])
    change_state(session, alert, Event.confirm, SYSTEM, str(again.advice["why"]))
    outbox.add(session, NOTIFY, alert.id)


def _store_advice(
    session: Session, alert: Alert, role: Role, row: PolicyAdvice
) -> None:
    """Store the whole advice as a finding: advice is derived, so explanations need what it said (I16)."""
    advice, in_force = dict(row.advice), row.in_force
    warm = advice["warm"]
    session.add(
        Finding(
            id=ids.new_id("fnd"),
            kind="policy",
            role=role,
            alert_id=alert.id,
            comparison_id=None,
            series_id=None,
            change_id=None,
            numbers={
                "words": advice["words"],
                "where": case_place(advice["arm"], advice["benchmark"], {}),
                "advice": advice,
                "in_force": dict(in_force),
            },
            run_id=row.run_id,
            job_id=row.job_id,
            method=METHOD,
            parameters={
                "confidence": POLICY_CONFIDENCE,
                "margin_percent": advice["margin_percent"],
            },
            filters=_filters(advice, in_force),
            window={
                "text": f"{len(warm['points'])} values of {advice['param']} measured in one job, "
                f"{sum(point['blocks'] for point in warm['points'])} rounds of both arms",
            },
            created_at=clock.now(),
        )
    )
    session.flush()


def _filters(
    advice: Mapping[str, Any], in_force: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The checks of the policy in force; each limit is the measured value."""
    warm, warmup, minimum = advice["warm"], advice["warmup"], in_force["minimum"]
    lower, upper = warm["lower"], warm["upper"]
    inside = (
        warm["value"] is not None
        and (lower or 0) <= minimum
        and (upper is None or minimum <= upper)
    )
    filters = [
        {
            "name": "minimum",
            "value": minimum,
            "limit": warm["value"],
            "passed": inside,
            "text": f"In force from {minimum:,}; measured: {warm['words']}.",
        },
    ]
    rounds = in_force["warmup_rounds"]
    if rounds is not None:
        needed = warmup["rounds"]
        filters.append(
            {
                "name": "warmup_rounds",
                "value": rounds,
                "limit": needed,
                "passed": needed is not None and rounds >= needed,
                "text": f"{rounds} warm-up rounds in force; measured: {warmup['words']}.",
            }
        )
    return [
        *filters,
        {
            "name": "holds",
            "value": None,
            "limit": None,
            "passed": False,
            "text": advice["why"],
        },
    ]
