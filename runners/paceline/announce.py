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

from paceline import environment, preflight
from paceline.api import RefusedSuite
from paceline.config import Config, RepositoryConfig
from paceline.errors import UserError
from paceline.git import Head, Repository
from paceline.manifest import parse

log = logging.getLogger("paceline.announce")

TARGET_REFRESH_S = 60.0
REMOTE_REFRESH_S = 60.0
"""How often the head of a repository behind a URL is asked for; one beside us is asked at every heartbeat."""


class Announcer:
    """Builds heartbeat bodies; keeps what it found while a job runs."""

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
        self._said: dict[str, str] = {}
        self._refused: dict[str, str] = {}

    def refuses(self) -> str | None:
        """Why this host takes no jobs now, or None."""
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
                self._data_dir, self._config.agent.min_free_bytes
            )
            self._target = {
                "kind": "host",
                "serial": self.serial,
                "name": self._config.agent.name or environment.display_name(),
                "factors": observed.factors,
                "fingerprint": observed.fingerprint,
                "preflight": msgspec.to_builtins(findings),
            }
            self._target_at = time.monotonic()
        return [{**self._target, "refuses": self.refuses()}]

    def suites(self, busy: bool) -> list[dict[str, Any]]:
        """Every suite of the allow-list at its repository's head."""
        if not (busy and self._suites):
            for name, repository in self._config.repositories.items():
                try:
                    head = self._head(name, repository)
                except UserError as error:
                    self._say_once(name, str(error))
                    continue
                for path in repository.manifests:
                    self._announce(name, path, head)
        return list(self._suites.values())

    def _head(self, name: str, repository: RepositoryConfig) -> Head:
        known = self._heads.get(name)
        now = time.monotonic()
        if (
            known is not None
            and repository.url is not None
            and now - known[1] < REMOTE_REFRESH_S
        ):
            return known[0]
        head = self._repositories[name].head()
        self._heads[name] = (head, now)
        return head

    def _announce(self, name: str, path: str, head: Head) -> None:
        known = self._suites.get((name, path))
        if known is not None and (known["commit"], known["branch"]) == head:
            return
        try:
            manifest = parse(
                self._repositories[name].show(head.commit, path), f"{name}:{path}"
            )
        except UserError as error:
            self._suites.pop((name, path), None)
            self._say_once(f"{name}:{path}", str(error))
            return
        self._said.pop(f"{name}:{path}", None)
        self._suites[name, path] = {
            "repository": name,
            "manifest_path": path,
            "manifest": manifest.raw,
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
        """What the server did not take of the last announcement: said once, and again after a change."""
        now = {item.suite: item.reason for item in refused}
        for suite, reason in now.items():
            if self._refused.get(suite) != reason:
                log.warning("the server does not take suite %s: %s", suite, reason)
        for suite in self._refused.keys() - now.keys():
            log.info("the server takes suite %s now", suite)
        self._refused = now

    def _say_once(self, key: str, text: str) -> None:
        if self._said.get(key) != text:
            self._said[key] = text
            log.warning("not announced: %s: %s", key, text)
