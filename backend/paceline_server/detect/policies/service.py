"""Stores the policy advice of a job, lists it, and judges a policy stated outside the suite against the newest advice.

Advice is stored when a baseline job is concluded, and never changes. A policy stated outside the suite is judged by
the same rule as the suite's own policies (`stats.policy.judge_minimum`). Stored advice has no resampled curves, so a
threshold between two measured values stays undecided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from paceline_contract.params import params_key, params_text
from sqlalchemy.orm import Session

from paceline_server.detect.policies import queries
from paceline_server.detect.policies.advice_sentences import advice_out, warmup_sentence
from paceline_server.detect.policies.advise import (
    PolicyAssessment,
    evidence_of,
    warmup_suffices,
)
from paceline_server.detect.policies.schemas import CrossoverOut, PolicyAdviceOut
from paceline_server.fleet import service as fleet
from paceline_server.kernel import clock, ids
from paceline_server.kernel.wire import Page, params_of_query
from paceline_server.stats.coldness import Coldness
from paceline_server.stats.plain_words import percent
from paceline_server.stats.policy import (
    Crossover,
    MeasuredPoint,
    MinimumVerdict,
    judge_minimum,
)
from paceline_server.store.page import page
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.store.tables.policies import PolicyAdvice

advice_of_job = queries.advice_of_job
find_previous_advice = queries.find_previous_advice

_COLUMNS = (
    "id",
    "suite",
    "policy",
    "params",
    "target_id",
    "in_force",
    "holds",
    "run_id",
    "job_id",
    "measured_at",
)


def store_advice(
    session: Session,
    job: Job,
    run: Run,
    target: Target,
    assessments: Sequence[PolicyAssessment],
) -> None:
    """Store the advice of a baseline job."""
    session.add_all(advice_rows(job, run, target, assessments))
    session.flush()


def advice_rows(
    job: Job, run: Run, target: Target, assessments: Sequence[PolicyAssessment]
) -> list[PolicyAdvice]:
    """Return the advice of a job as rows that are not stored yet; assessments without an answer are left out."""
    at = clock.now()
    return [
        PolicyAdvice(
            id=ids.new_id("adv"),
            target_id=target.id,
            suite=run.suite,
            policy=assessment.policy.name,
            params=dict(assessment.params),
            params_key=params_key(assessment.params),
            advice={
                **advice_out(assessment, target.spoken_name).model_dump(mode="json"),
                "evidence": evidence_of(assessment),
            },
            in_force=asdict(assessment.in_force),
            holds=assessment.holds,
            run_id=run.id,
            job_id=job.id,
            measured_at=at,
        )
        for assessment in assessments
        if assessment.warm.answer != "unknown"
    ]


def list_newest_advice(
    session: Session,
    *,
    suite: str | None,
    policy: str | None,
    target: str | None,
    limit: int,
    cursor: str | None,
) -> Page[PolicyAdviceOut]:
    """Return the newest advice for each target, policy and combination of params, newest first."""
    return _list_advice_page(
        session, queries.newest_advice(suite, policy, target), limit, cursor
    )


def list_advice_history(
    session: Session,
    *,
    suite: str,
    policy: str,
    target: str,
    params: str | None,
    limit: int,
    cursor: str | None,
) -> Page[PolicyAdviceOut]:
    """Return all advice about a policy on a target, newest first; `params` is a JSON object. Raises 400."""
    key = (
        None
        if params is None
        else params_key(params_of_query(params, '{"message": 150}'))
    )
    return _list_advice_page(
        session, queries.advice_history(suite, policy, target, key), limit, cursor
    )


def judge_on_targets(
    session: Session,
    *,
    param: str,
    reference: str,
    minimum: int,
    warmup_rounds: int | None,
) -> list[PolicyOnTarget]:
    """Judge a policy stated outside the suite on every target that has advice about the same param and reference."""
    rows = queries.newest_about(session, param, reference)
    targets = fleet.targets_by_id(session, [row.target_id for row in rows])
    return [
        judge_on_target(advice, targets[advice.target_id], minimum, warmup_rounds)
        for advice in _render_advice(session, rows)
    ]


def _list_advice_page(
    session: Session, query: Any, limit: int, cursor: str | None
) -> Page[PolicyAdviceOut]:
    rows: Page[PolicyAdvice] = page(
        session,
        query,
        [PolicyAdvice.measured_at, PolicyAdvice.id],
        lambda row: [row.measured_at, row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    return Page(items=_render_advice(session, rows.items), next=rows.next)


def _render_advice(
    session: Session, rows: Sequence[PolicyAdvice]
) -> list[PolicyAdviceOut]:
    targets = fleet.targets_by_id(session, [row.target_id for row in rows])
    commits = queries.commits_of_runs(session, rows)
    return [
        PolicyAdviceOut.model_validate(
            {
                **row.advice,
                **{name: getattr(row, name) for name in _COLUMNS},
                "target_name": targets[row.target_id].name,
                "commit": commits[row.run_id],
            }
        )
        for row in rows
    ]


@dataclass(frozen=True)
class PolicyOnTarget:
    """The advice for a target, and whether a policy stated outside the suite `holds` there. None means undecided."""

    advice: PolicyAdviceOut
    simulated: bool
    holds: bool | None
    words: str
    why: str


def judge_on_target(
    advice: PolicyAdviceOut, target: Target, minimum: int, warmup_rounds: int | None
) -> PolicyOnTarget:
    """Judge whether using the arm from `minimum` on, after `warmup_rounds`, holds on the target of the advice."""
    verdict = judge_minimum(
        _read_crossover(advice.warm), minimum, advice.margin_percent
    )
    judgements, reasons = [verdict.holds], [_explain_minimum(advice, verdict, minimum)]
    if warmup_rounds == 0 and advice.cold is not None:
        cold = judge_minimum(
            _read_crossover(advice.cold), minimum, advice.margin_percent
        )
        judgements.append(cold.holds)
        reasons.append(f"in a fresh process {_explain_minimum(advice, cold, minimum)}")
    if warmup_rounds is not None:
        suffices, sentence = _judge_warmup(advice, warmup_rounds)
        judgements.append(suffices)
        reasons.append(sentence)
    holds = False if False in judgements else None if None in judgements else True
    point = params_text(advice.params, " ")
    place = f"{target.spoken_name}{f' at {point}' if point else ''}"
    return PolicyOnTarget(
        advice,
        target.simulated,
        holds,
        f"On {place} {advice.warm.words}",
        "; ".join(reasons),
    )


def _read_crossover(stored: CrossoverOut) -> Crossover:
    points = tuple(
        MeasuredPoint(
            at=point.at,
            middle=math.log(point.ratio),
            lower=None if point.lower is None else math.log(point.lower),
            upper=None if point.upper is None else math.log(point.upper),
            fitted=math.log(point.fitted),
            winner=point.winner,
            blocks=point.blocks,
            launches=point.launches,
        )
        for point in stored.points
    )
    return Crossover(
        answer=stored.answer,
        points=points,
        value=stored.value,
        lower=stored.lower,
        upper=stored.upper,
        measured_from=stored.measured_from,
        monotone=stored.monotone,
        reason=stored.reason,
    )


def _explain_minimum(
    advice: PolicyAdviceOut, verdict: MinimumVerdict, minimum: int
) -> str:
    unit = advice.unit or advice.param
    if verdict.because == "picks_loser":
        picked, other = advice.arm, advice.reference
        if verdict.picked == "reference":
            picked, other = other, picked
        loss = percent(verdict.loss or 0.0)
        return f"at {verdict.loss_at or 0:,} {unit} it picks {picked}, which takes {loss} longer than {other}"
    return {
        "inside": f"{minimum:,} {unit} is inside the interval",
        "picks_winners": "it picks no loser at any measured value",
        "open": f"the samples do not say whether {minimum:,} {unit} is right",
        "unknown": "nothing was measured to compare it with",
    }[verdict.because]


def _judge_warmup(advice: PolicyAdviceOut, rounds: int) -> tuple[bool | None, str]:
    warmup = advice.warmup
    coldness = Coldness(
        warmup.rounds,
        warmup.lower,
        warmup.upper,
        calls_per_round=warmup.calls_per_round,
        reason=warmup.reason,
    )
    suffices = warmup_suffices(coldness, rounds)
    return suffices, warmup_sentence(rounds, suffices, warmup.words)
