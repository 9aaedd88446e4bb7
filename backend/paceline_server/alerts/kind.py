"""Defines the protocol of a kind of alert: what it watches, how it is confirmed, when it is over, and its sentences.

A kind observes jobs, or stored facts, and judges; only `lifecycle.py` changes alerts accordingly. A new kind is one file
in `kinds/` and one entry in its registration.
"""

# ruff: noqa: ARG002 - the defaults of a protocol need none of their arguments

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.queries import FindingEvidence
from paceline_server.alerts.rules.rule_book import (
    AppliedRule,
    BuiltInRule,
    RuleSubject,
)
from paceline_server.alerts.schemas import AlertState
from paceline_server.alerts.states import Event
from paceline_server.detect.service import Role
from paceline_server.jobs import service as jobs
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.jobs import Job, Run

Evidence = TypeVar("Evidence")
Watched = Literal["job", "points", "clock"]
"""When a kind observes: after a job ended, after its points were added to their series, or at every sweep."""
Outcome = Literal["fails", "undecided", "holds"]


@dataclass(frozen=True, kw_only=True)
class Observation(Generic[Evidence]):
    """What a job or a stored fact shows about one cause. `evidence` has a type of the kind, and becomes findings."""

    kind: str
    cause_key: str
    """Equal for everything that one alert is about; at most one alert of a cause is living."""
    outcome: Outcome
    title: str
    words: str
    rule: AppliedRule
    evidence: Evidence
    run_id: str | None
    job_id: str | None
    """Null, like the run: no job shows it."""
    target_id: str | None
    suite: str
    benchmark: str = ""
    arm: str = ""
    reference: str = ""
    metric: str = ""
    demonstration: bool = False
    ratio: float | None = None
    lower: float | None = None
    upper: float | None = None
    cause: str | None = None
    base_commit: str | None = None
    head_commit: str | None = None
    raised_because: str | None = None
    """The note of the event that raises the alert; None: `words`."""


@dataclass(frozen=True)
class EndedJob:
    """An ended job with its run, and what a kind computed from its samples beforehand."""

    job: Job
    run: Run
    computed: Any = None


@dataclass(frozen=True)
class AlertEvidence:
    """An alert with all evidence for its explanation. `closing` is the note of the event that ended or revived it."""

    alert: Alert
    target_name: str
    findings: Sequence[FindingEvidence]
    closing: str | None

    def with_role(self, role: Role) -> list[FindingEvidence]:
        """Return the findings that have a role, oldest first."""
        return [row for row in self.findings if row.finding.role == role]

    @property
    def closing_sentences(self) -> list[str]:
        """The sentence about how the alert ended or came back, if there is one."""
        note = self.closing
        return [f"{note[0].upper()}{note[1:]}."] if note else []


@dataclass(frozen=True)
class ConfirmationRun:
    """A requested run, and the note about it in the alert's history."""

    run: Run
    note: str
    is_awaited: bool = False
    """True if the alert is decided without the run when no agent takes it in time."""


@dataclass(frozen=True)
class Decision:
    """The result of a confirmation: the alert is real, it is not, or this stays undecided."""

    outcome: Literal["proven", "cleared", "undecided"]
    note: str
    evidence: Any = None


class AlertKind(Protocol[Evidence]):
    """One kind of alert. The definitions here are the defaults of all kinds."""

    names: ClassVar[tuple[str, ...]]
    """Values of `Alert.kind`."""
    watches: ClassVar[Watched] = "job"
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {}
    """The rule that applies where no stored rule matches, by name. Names without one have no stored rules either."""
    blames_code: ClassVar[bool] = False
    """True if every alert of this kind blames the code, whatever its cause."""
    follows_series: ClassVar[bool] = False
    """True if alerts are about the history of series, so that they name commits and may move baselines."""
    needs_run: ClassVar[bool] = True
    """True if a run confirms a suspected alert after the cool-down (I13)."""
    confirmed_in: ClassVar[frozenset[AlertState]] = frozenset({"suspected"})
    """States in which a confirmation run is requested."""
    decided_in: ClassVar[frozenset[AlertState]] = frozenset(
        {"suspected", "inconclusive"}
    )
    """States in which the result of a confirmation run counts."""
    found_again: ClassVar[Mapping[AlertState, Event]] = {"inconclusive": Event.retry}
    """What happens to an alert in one of these states when its cause is found again."""
    proven_again_in: ClassVar[frozenset[AlertState]] = frozenset()
    """States in which finding the cause again requests a new confirmation and changes nothing else."""
    observes_again: ClassVar[bool] = True
    """True if evaluating a job again yields the same observations; those that are findings already are then skipped."""

    def observe(
        self, session: Session, ended: EndedJob
    ) -> Iterable[Observation[Evidence]]:
        """Yield observations of a job. Each is applied before the next is requested."""
        return ()

    def observe_now(
        self, session: Session, project_id: str, at: datetime
    ) -> Iterable[Observation[Evidence]]:
        """Yield what changed in the facts of a project, for a kind that watches the clock."""
        return ()

    def projects(self, session: Session) -> Collection[str]:
        """Return the projects in which `observe_now` may raise an alert."""
        return ()

    def find_alert(self, session: Session, seen: Observation[Evidence]) -> Alert | None:
        """Return the locked alert that an observation belongs to."""
        return queries.lock_living_alert(session, seen.cause_key)

    def needs_no_alert(
        self,
        session: Session,
        seen: Observation[Evidence],
        newest: Alert | None,
    ) -> bool:
        """Return whether an observation without an alert raises none, given the newest alert of its cause."""
        return False

    def join(self, alert: Alert, seen: Observation[Evidence]) -> None:
        """Update an alert whose cause was found again."""
        return

    def store_findings(
        self, session: Session, alert: Alert, seen: Observation[Evidence], role: Role
    ) -> None:
        """Store an observation as findings of an alert."""
        ...

    def recovery(
        self,
        session: Session,
        alert: Alert,
        seen: Observation[Evidence],
    ) -> Observation[Evidence] | None:
        """Return the part of a good observation that proves that an alert is over; None if it is not over."""
        return seen

    def request_run(
        self,
        session: Session,
        alert: Alert,
    ) -> ConfirmationRun | Decision | None:
        """Request the confirmation run of an alert, or say why none can decide. None if nothing is in doubt."""
        return None

    def compute(self, session: Session, job: Job) -> Any:
        """Compute the slow part of what `read_confirmation` needs. It only reads, so that it does not block the
        writer."""
        return None

    def read_confirmation(
        self,
        session: Session,
        alert: Alert,
        ended: EndedJob,
    ) -> Decision | None:
        """Read the ended confirmation of an alert and store its findings. None if it decides nothing."""
        return None

    def after_decision(
        self, session: Session, alert: Alert, decision: Decision, before: AlertState
    ) -> None:
        """Add what this kind does after a decision, such as a bisection; `before` is the alert's state before it."""
        return

    def links(self, alert: Alert) -> list[tuple[str, str]]:
        """Return (label, path) of the pages that a notice of an alert leads to."""
        pages = (("Run", "runs", alert.run_id), ("Target", "targets", alert.target_id))
        return [(label, f"/{page}/{row}") for label, page, row in pages if row]

    def rule_subject(self, session: Session, alert: Alert) -> RuleSubject:
        """Return what rules match of an alert."""
        name = queries.target_name(session, alert.measured_target_id)
        return RuleSubject(alert.suite, alert.benchmark, alert.arm, alert.metric, name)

    def is_environmental(self, alert: Alert) -> bool:
        """Return whether an alert is about a shift of its whole target, which is nobody's change of code."""
        return False

    def make_environmental(self, alert: Alert) -> None:
        """Make an alert one about a shift of its whole target."""
        return

    def hand_over(self, session: Session, alert: Alert, living: Alert) -> None:
        """Give what an alert is about to the living alert of the same cause."""
        return

    def accept(self, session: Session, alert: Alert, commit: str | None) -> None:
        """Accept the subject of an alert as the new normal, from a commit on if given. Raises 400 for a commit that
        does not fit."""
        return

    def withdraw(self, session: Session, alert: Alert) -> None:
        """Undo `accept`."""
        return

    def explain(self, evidence: AlertEvidence) -> str:
        """Return one paragraph for people."""
        ...


def no_verdict(job: Job, name: str) -> Decision:
    """Return the decision by a confirmation run that ended without a result."""
    reason = jobs.reason_of_end(job)
    return Decision(
        "undecided", f"{name} ended without a verdict: {job.state}: {reason}"
    )
