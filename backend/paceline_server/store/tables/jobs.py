"""Defines runs, jobs and attempts; leases are rows of `attempt` (I5, I6, I9)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    ForeignKey,
    Index,
    String,
    false,
    or_,
    text,
    true,
)
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import (
    Base,
    Json,
    JsonOrNull,
    OrderedJson,
    Timestamp,
)
from paceline_server.store.owned import ProjectOwned, ProjectRoot

LEASED_STATES = ("leased", "preparing", "measuring", "uploading")
"""Job states that occupy the target; the unique partial index below allows one such job per target (I9)."""

RECORDED = "recorded"
"""Trigger of runs that a person measured without a server. No agent can measure them again."""

BASELINE_TRIGGERS = ("manual", "schedule", "ci", RECORDED)
"""Triggers of runs whose points count in history. Other runs confirm a finding (I13) or were measured by another
tool.
"""

IMPORTED = "import"
"""Trigger of runs that another tool measured. Their points have separate series, and count only where `judged`."""

_leased_sql = "state IN ('leased','preparing','measuring','uploading')"


class Run(ProjectRoot, Base):
    __tablename__ = "run"
    # The first index covers the list of suites, which then reads no rows with manifests of some 16 KB.
    __table_args__ = (
        Index("ix_run_suite", "project_id", "suite", "trigger", "created_at"),
        Index("ix_run_state", "project_id", "state"),
        Index("ix_run_project_id_concurrency_key", "project_id", "concurrency_key"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    suite: Mapped[str]
    repository: Mapped[str]
    manifest_path: Mapped[str]
    manifest: Mapped[dict[str, Any]] = mapped_column(OrderedJson, deferred=True)
    """At first the suite's newest announcement, later the manifest that an agent read at `commit`. It is large, so it
    is loaded only when accessed."""
    base_manifest: Mapped[dict[str, Any] | None] = mapped_column(
        JSON(none_as_null=True), deferred=True
    )
    """The manifest that an agent read at the base of an A/B run."""
    manifest_of_commit: Mapped[bool] = mapped_column(
        default=False, server_default=false()
    )
    """True once `manifest` is what an agent read at `commit`; it does not change any more."""
    whole_suite: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if all benchmarks were requested; `benchmarks` then follows the manifest."""
    commit: Mapped[str]
    branch: Mapped[str | None]
    base_commit: Mapped[str | None]
    """Set in an A/B run, whose jobs build both revisions and interleave launches of base and head. Equal to `commit`
    in an A/A run."""
    base_branch: Mapped[str | None]
    """The base is the merge base of `commit` and this branch. The first agent finds it, and `base_commit` then names
    it."""
    pull_request: Mapped[dict[str, Any] | None] = mapped_column(JsonOrNull)
    """`{number, url, title}` of the pull request whose head is judged."""
    judges_head: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if an A/B run judges the arms and gates of its head as well."""
    stop_when_sure: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if a benchmark whose verdict is certain is not launched again."""
    concurrency_key: Mapped[str | None]
    """A new run cancels unfinished runs with the same key."""
    superseded_by: Mapped[str | None]
    """The next run with the same key, or of an imported run that of the corrected file."""
    trigger: Mapped[str]
    state: Mapped[str]
    verdict: Mapped[str | None]
    reason: Mapped[str | None]
    demonstration: Mapped[bool]
    judged: Mapped[bool] = mapped_column(default=True, server_default=true())
    """False if its points are shown and never count: another tool measured it, and its import did not ask for that, or the
    files that were measured are those of no commit."""
    notifies: Mapped[bool] = mapped_column(default=True, server_default=true())
    """False if no alert is raised about a change at its points: they are a history that was imported."""
    benchmarks: Mapped[list[str]] = mapped_column(Json)
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    knobs: Mapped[dict[str, Any]] = mapped_column(Json)
    suppress: Mapped[list[str]] = mapped_column(Json, default=list)
    """Names of configuration errors that do not void its jobs."""
    launches: Mapped[int]
    """The requested number, or the default for the kind of its targets (that of hosts if there are both). Each job has
    its own number.
    """
    rounds: Mapped[int]
    min_time_ns: Mapped[int] = mapped_column(BigInteger)
    confirms_alert_id: Mapped[str | None] = mapped_column(String, index=True)
    bisection_id: Mapped[str | None] = mapped_column(String, index=True)
    schedule_id: Mapped[str | None] = mapped_column(String, index=True)
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)

    @hybrid_property
    def compares_revisions(self) -> bool:
        """Return whether its jobs have two sides. None of them becomes a point of a history (I13)."""
        return self.base_commit is not None or self.base_branch is not None

    @property
    def skips_unaffected(self) -> bool:
        """Return whether its jobs leave out what is the same at base and head. Runs about alerts and noise measure
        everything: there, the same code is measured twice on purpose."""
        return self.compares_revisions and self.trigger in BASELINE_TRIGGERS

    @compares_revisions.inplace.expression
    @classmethod
    def _compares_revisions(cls) -> ColumnElement[bool]:
        return or_(cls.base_commit.is_not(None), cls.base_branch.is_not(None))


class Job(ProjectOwned, Base):
    __tablename__ = "job"
    __table_args__ = (
        Index(
            "uq_job_one_lease_per_target",
            "target_id",
            unique=True,
            sqlite_where=text(_leased_sql),
            postgresql_where=text(_leased_sql),
        ),
        Index("ix_job_state_not_before", "state", "not_before"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("run.id"), index=True)
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"), index=True)
    state: Mapped[str]
    detail: Mapped[str | None]
    cause: Mapped[str | None]
    cause_detail: Mapped[str | None]
    attempt: Mapped[int]
    """0 if never leased. The number of the newest attempt fences stale writers."""
    batch: Mapped[int]
    """0, 1 or 2, because the sequential verdict looks at most three times; batch b measures launches [b·K, (b+1)·K)."""
    launches: Mapped[int] = mapped_column(default=5)
    """K: the number of launches in a batch."""
    requeues: Mapped[int]
    seed: Mapped[int] = mapped_column(BigInteger)
    progress: Mapped[dict[str, Any] | None] = mapped_column(Json)
    verdict: Mapped[str | None]
    reason: Mapped[str | None]
    artifact_hash: Mapped[str | None]
    fingerprint: Mapped[str | None]
    build: Mapped[dict[str, Any] | None] = mapped_column(Json)
    base_artifact_hash: Mapped[str | None]
    unaffected: Mapped[dict[str, str] | None] = mapped_column(JsonOrNull)
    """Digests of the benchmarks that are not measured again, by the names of head: base has the same."""
    commits: Mapped[list[dict[str, Any]] | None] = mapped_column(Json)
    """`[{commit, author, at, subject}]` from the agent's repository, oldest first: in an A/B job those after the base
    up to the head, else the head alone. Null if the agent sent none."""
    partial: Mapped[bool]
    samples: Mapped[int] = mapped_column(BigInteger)
    not_before: Mapped[datetime] = mapped_column(Timestamp)
    queue_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """Its place in the queue of its target, the earliest first; null in older jobs, for which `not_before` counts."""
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """The job expires if it is not leased by then."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    started_at: Mapped[datetime | None] = mapped_column(Timestamp)
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Attempt(ProjectOwned, Base):
    __tablename__ = "attempt"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    batch: Mapped[int]
    agent_id: Mapped[str]
    lease_token_sha256: Mapped[str]
    leased_at: Mapped[datetime] = mapped_column(Timestamp)
    lease_expires_at: Mapped[datetime] = mapped_column(Timestamp)
    cancel_requested: Mapped[bool]
    outcome: Mapped[str | None]
    """done | failed | cancelled | lost; null until it ends. Only `done` attempts count for verdicts."""
    last_seq: Mapped[int | None] = mapped_column(BigInteger)
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)
