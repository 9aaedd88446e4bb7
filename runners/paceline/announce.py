"""Builds what the agent announces with every heartbeat: its host and the suites it may run.

Nothing is looked up while a job runs, because a `git` or `java -version` beside a measurement would disturb
it. A suite that cannot be announced is logged once with its reason and does not hide the others.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from paceline_contract.announcements import manifest_digest
from paceline_contract.locations import LocationError, canonical_location

from paceline import environment, preflight, server_remarks
from paceline.api import HeartbeatReply, RefusedSuite
from paceline.config import Config, RepositoryConfig
from paceline.errors import UserError
from paceline.git import Head, Repository
from paceline.manifest import parse

log = logging.getLogger("paceline.announce")

TARGET_REFRESH_S = 60.0
MAX_FINDINGS_OF_SERVER = 16
"""Most notes and refusals of the server among the findings of a host."""
LOGGED_FINDINGS = (preflight.Code.NOT_UNDERSTOOD, preflight.Code.REPOSITORY)
REMOTE_REFRESH_S = 60.0
"""How often the head of a remote repository is read; a local one is read at every heartbeat."""


class Announcer:
    """Builds heartbeat bodies, and keeps the last results while a job runs."""

    def __init__(
        self, config: Config, repositories: Mapping[str, Repository], data_dir: Path
    ) -> None:
        self._config, self._repositories, self._data_dir = (
            config,
            repositories,
            data_dir,
        )
        self.serial = config.agent.serial or environment.serial(data_dir)
        self._target: dict[str, Any] = {}
        self._target_at = 0.0
        self._heads: dict[str, tuple[Head, float]] = {}
        self._suites: dict[tuple[str, str], dict[str, Any]] = {}
        self._manifests: dict[str, dict[str, Any]] = {}
        """By digest, those of the present announcement."""
        self._wanted: set[str] = set()
        self._locations: dict[str, str] = {}
        self._logged: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._logged_findings: set[str] = set()
        self._notes: list[str] = []
        self._refused_targets: dict[str, str] = {}
        self._remarks: list[str] | None = None

    def use(self, config: Config) -> None:
        """Announce the repositories of a changed configuration, and no longer those that it does not name."""
        self._config = config
        for name, path in list(self._suites):
            listed = config.repositories.get(name)
            if listed is None or path not in listed.manifests:
                del self._suites[name, path]
        self._heads.clear()

    def refusal_reason(self) -> str | None:
        """Return the reason why this host takes no jobs now, or None."""
        free = shutil.disk_usage(self._data_dir).free
        needed = self._config.agent.min_free_bytes
        if free >= needed:
            return None
        return (
            f"disk full: {free / 2**20:.0f} MiB are free in the agent's data directory, "
            f"{needed / 2**20:.0f} MiB are needed; free space there"
        )

    def targets(self, busy: bool) -> list[dict[str, Any]]:
        if not self._target or (
            not busy and time.monotonic() - self._target_at > TARGET_REFRESH_S
        ):
            observed = environment.observe()
            findings = preflight.examine(
                self._data_dir,
                self._config.agent.min_free_bytes,
                self._config.repositories,
            )
            self._log_once_each(findings)
            self._target = {
                "kind": "host",
                "serial": self.serial,
                "name": self._config.agent.name or environment.display_name(),
                "factors": observed.factors,
                "fingerprint": observed.fingerprint,
                "preflight": msgspec.to_builtins(findings),
            }
            self._target_at = time.monotonic()
        all_findings = [*self._target["preflight"], *self._findings_of_server()]
        return [
            {
                **self._target,
                "preflight": all_findings,
                "refuses": self.refusal_reason(),
            }
        ]

    def _findings_of_server(self) -> list[dict[str, Any]]:
        """Return the server's notes on this agent and its suites as findings, for the page of its host."""
        notes = [
            *((preflight.Code.IDENTITY, note) for note in self._notes),
            *(
                (preflight.Code.SUITE_REFUSED, reason)
                for reason in self._refused.values()
            ),
        ]
        return [
            {"code": code, "level": "warning", "text": text[:500], "advice": None}
            for code, text in notes[:MAX_FINDINGS_OF_SERVER]
        ]

    def suites(self, busy: bool) -> list[dict[str, Any]]:
        """Return every suite of the allow-list at its repository's head; with its manifest if the server lacks it."""
        if not (busy and self._suites):
            for name, repository in self._config.repositories.items():
                try:
                    self._locations[name] = canonical_location(repository.location)
                    head = self._head(name, repository)
                except (UserError, LocationError) as error:
                    self._log_once(name, str(error))
                    continue
                for path in repository.manifests:
                    self._announce(name, path, head)
        announced = {suite["digest"] for suite in self._suites.values()}
        self._manifests = {
            digest: raw
            for digest, raw in self._manifests.items()
            if digest in announced
        }
        return [
            {**suite, "manifest": self._manifests[suite["digest"]]}
            if suite["digest"] in self._wanted
            else suite
            for suite in self._suites.values()
        ]

    def note_wanted_manifests(self, digests: list[str]) -> bool:
        """Send these manifests with the next heartbeat. Returns whether there is one to send."""
        self._wanted = {digest for digest in digests if digest in self._manifests}
        return bool(self._wanted)

    def _head(self, name: str, repository: RepositoryConfig) -> Head:
        last = self._heads.get(name)
        now = time.monotonic()
        if (
            last is not None
            and repository.url is not None
            and now - last[1] < REMOTE_REFRESH_S
        ):
            return last[0]
        head = self._repositories[name].head()
        self._heads[name] = (head, now)
        return head

    def _announce(self, name: str, path: str, head: Head) -> None:
        announced = self._suites.get((name, path))
        if announced is not None and (announced["commit"], announced["branch"]) == head:
            return
        try:
            manifest = parse(
                self._repositories[name].show(head.commit, path), f"{name}:{path}"
            )
        except UserError as error:
            self._suites.pop((name, path), None)
            self._log_once(f"{name}:{path}", str(error))
            return
        self._logged.pop(f"{name}:{path}", None)
        digest = manifest_digest(manifest.raw)
        self._manifests[digest] = manifest.raw
        self._suites[name, path] = {
            "repository": name,
            "location": self._locations[name],
            "manifest_path": path,
            "suite": manifest.suite.name,
            "digest": digest,
            "commit": head.commit,
            "branch": head.branch,
        }
        log.info(
            "announcing suite %s of %s at %s",
            manifest.suite.name,
            name,
            head.commit[:12],
        )

    def note_refused_suites(self, refused: list[RefusedSuite]) -> None:
        """Log suites of the last announcement that the server refused, once and after each change."""
        reasons = {item.suite: item.reason for item in refused}
        for suite, reason in reasons.items():
            if self._refused.get(suite) != reason:
                log.warning("the server does not take suite %s: %s", suite, reason)
        for suite in self._refused.keys() - reasons.keys():
            log.info("the server takes suite %s now", suite)
        self._refused = reasons

    def note_refused_targets(self, reply: HeartbeatReply) -> str | None:
        """Log targets that the server does not take from this agent, once and after each change; return why it does
        not take this host."""
        reasons = {
            f"{item.kind}:{item.serial}": item.why for item in reply.refused_targets
        }
        for target, why in reasons.items():
            if self._refused_targets.get(target) != why:
                log.warning("the server does not take %s: %s", target, why)
        for target in self._refused_targets.keys() - reasons.keys():
            log.info("the server takes %s now", target)
        self._refused_targets = reasons
        self._keep_remarks()
        return reasons.get(f"host:{self.serial}")

    def note_identity(self, notes: list[str]) -> None:
        """Log the server's notes on this agent's identity, once and after each change."""
        for note in notes:
            if note not in self._notes:
                log.warning("%s", note)
        self._notes = notes

    def _keep_remarks(self) -> None:
        """Store the server's notes on this agent and its targets for `paceline doctor`, after each change."""
        remarks = [
            *self._notes,
            *(
                f"{target} is not taken. {why}"
                for target, why in self._refused_targets.items()
            ),
        ]
        if remarks != self._remarks:
            server_remarks.keep(self._data_dir, remarks)
            self._remarks = remarks

    def _log_once_each(self, findings: list[preflight.Finding]) -> None:
        """Log texts that are not understood and repositories that are listed twice, once and after each change."""
        logged = {
            finding.text for finding in findings if finding.code in LOGGED_FINDINGS
        }
        for text in sorted(logged - self._logged_findings):
            log.warning("this host: %s", text)
        self._logged_findings = logged

    def _log_once(self, key: str, text: str) -> None:
        if self._logged.get(key) != text:
            self._logged[key] = text
            log.warning("not announced: %s: %s", key, text)
