"""The reports of an agent about an attempt: its step, what it built, and how it ended."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

MAX_COMMITS: Final = 1_000
"""Commits that an agent names with a job: the longest range that is bisected."""
MAX_DETAIL: Final = 4_000
"""Characters of how an attempt ended."""

AgentCause = Literal[
    # the workload's: a signal, never retried
    "stream_invalid",
    "workload_hung",
    "workload_flooded",
    "workload_crashed",
    "workload_error",
    "workload_no_terminal",
    "check_failed",
    "build_failed",
    "suite_invalid",
    # the infrastructure's
    "checkout_failed",
    "agent_lost",
    "agent_error",
    "disk_full",
    "target_refused",
    "lease_lost",
    "cancelled",
    "device_lost",
    "device_rebooted",
    "device_refused",
    "device_storage_full",
    "device_unauthorized",
    "placing_failed",
]
"""Why an agent ended an attempt without measurements."""
Cause = Literal[AgentCause, "analysis_failed"]
"""Why a job has no verdict; the analysis is the server's."""

Sha256 = Annotated[
    str, Meta(pattern=r"\A[0-9a-f]{64}\Z", description="64 hexadecimal digits")
]
CommitId = Annotated[
    str, Meta(pattern=r"\A[0-9a-f]{7,64}\Z", description="7 to 64 hexadecimal digits")
]


class _Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Part of a body that an agent sends; unknown fields are refused."""


class CommitReport(_Report, frozen=True, omit_defaults=True):
    """A commit of the agent's repository. `left_out`: how many older commits of the range are not listed; only
    in the oldest one listed."""

    commit: CommitId
    author: Annotated[str, Meta(max_length=500)]
    at: Annotated[
        datetime, Meta(tz=True, description="an instant as in 2026-11-23T14:00:00Z")
    ]
    subject: Annotated[str, Meta(max_length=500)]
    left_out: Annotated[int, Meta(ge=0)] = 0


class StateReport(_Report, frozen=True, omit_defaults=True):
    """A state of the agent. It reports `leased` while it waits for its target or its host, with what it waits for as
    `detail`; with `measuring` it reports hashes, build facts, commits and what it leaves out. `commits`, oldest
    first: for an A/B job the first parents after the base up to the head, else only the head."""

    state: Literal["leased", "preparing", "measuring", "uploading"]
    detail: Annotated[str, Meta(max_length=500)] | None = None
    artifact_hash: Sha256 | None = None
    base_artifact_hash: Sha256 | None = None
    base_commit: CommitId | None = None
    """The merge base that the agent found, in a job whose run names only the branch of its base."""
    commits: Annotated[list[CommitReport], Meta(max_length=MAX_COMMITS)] | None = None
    build: Annotated[dict[str, str], Meta(max_length=64)] = {}
    fingerprint: Sha256 | None = None
    unaffected: Annotated[dict[str, Sha256], Meta(max_length=500)] = {}
    """The benchmarks that this attempt does not measure again because they have one digest at base and at head; their
    digests by the names of head."""


class ManifestReport(_Report, frozen=True, omit_defaults=True):
    """The manifests that an agent read at the commits it is about to measure; they decide what the run measures."""

    manifest: dict[str, Any]
    """At the run's commit, as JSON."""
    base_manifest: dict[str, Any] | None = None
    """At the base, in a job of two revisions."""


class FinishReport(_Report, frozen=True):
    """The last write of an attempt; `last_seq` is its highest sequence number (−1: none).

    `detail`: what happened, in one sentence; then, if there is output, its first error with the lines around
    it, each beginning with two blanks and `> ` (the error) or `| ` (context); then what to do next."""

    outcome: Literal["done", "failed", "cancelled"]
    last_seq: Annotated[int, Meta(ge=-1)]
    cause: Cause | None = None
    detail: Annotated[str, Meta(max_length=MAX_DETAIL)] | None = None
