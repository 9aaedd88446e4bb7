"""A repository of real commits, an agent that measures what each of them costs, and an alert about all of
them."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import outbox
from paceline_server.store.session import session_scope
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.nightly_jobs import NIGHT, TIME, NightlyJobs
from paceline_server.testing.simulated_jobs import BIASED_SHARE

PREFIX = "/api/v1"
COST = Path("src/cost_ps")
LEVEL = 1_000_000.0
COOLDOWN_S = 30.0


@dataclass(frozen=True)
class Repository:
    """A git repository whose source says what it costs."""

    path: Path

    def git(self, *args: str) -> str:
        return subprocess.run(
            ["git", "-C", str(self.path), *args],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self, files: dict[Path, str], subject: str, author: str) -> str:
        """Commit these files; the new revision."""
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)
        self.git("add", "-A")
        identity = f"{author} <{author.lower()}@example.org>"
        self.git("commit", "-q", "--author", identity, "-m", subject)
        return self.git("rev-parse", "HEAD")

    def cost(self, commit: str) -> float:
        return float(self.git("show", f"{commit}:{COST}"))

    def artifact(self, commit: str) -> str:
        """The hash of what would be built: equal sources, equal artifact."""
        return hashlib.sha256(
            self.git("rev-parse", f"{commit}:src").encode()
        ).hexdigest()

    def between(self, base: str, head: str) -> list[dict[str, Any]]:
        """The commits after the base, up to and with the head, oldest first, as an agent names them: a merge
        stands for all it brings."""
        form = "--format=%H%x00%an <%ae>%x00%aI%x00%s"
        lines = self.git("log", "--reverse", "--first-parent", form, f"{base}..{head}")
        names = ("commit", "author", "at", "subject")
        return [
            dict(zip(names, line.split("\0"), strict=True))
            for line in lines.splitlines()
        ]


def grown(
    path: Path,
    *,
    commits: int,
    culprit: int,
    slower: float,
    seed: int,
    docs: Sequence[int] = (),
    merged: range = range(0),
) -> tuple[Repository, list[str]]:
    """A base and so many commits on it. `culprit` (from 0) makes everything after it slower; every other one
    changes the cost by up to 0.2 %, those in `docs` touch no source, those `merged` came by a side branch.
    Returns the revisions of the main branch, base first."""
    repository, rng = Repository(path), np.random.default_rng(seed)
    path.mkdir()
    repository.git("init", "-q", "-b", "main")
    repository.git("config", "user.name", "Paceline")
    repository.git("config", "user.email", "paceline@example.org")
    level = 1.0
    repository.commit({COST: repr(level)}, "Base", "Ada")
    for number in range(commits):
        if merged and number == merged.start:
            repository.git("checkout", "-q", "-b", "side")
        if number in docs:
            files = {Path("README"): f"Change {number}"}
        else:
            cost = (
                level
                * (1.0 + slower * (number >= culprit))
                * (1.0 + float(rng.uniform(-0.002, 0.002)))
            )
            files = {COST: repr(cost)}
        author = ("Ada", "Grace", "Barbara")[number % 3]
        repository.commit(files, f"Change {number}", author)
        if merged and number == merged.stop - 1:
            repository.git("checkout", "-q", "main")
            repository.git(
                "merge", "-q", "--no-ff", "-m", "Merge the side branch", "side"
            )
    return repository, repository.git(
        "rev-list", "--reverse", "--first-parent", "main"
    ).split()


@dataclass
class Hunt:
    """A lab whose agent measures commits of a repository, with biased launches and heavy tails."""

    lab: Lab
    past: NightlyJobs
    clock: FrozenClock
    headers: dict[str, str]
    repository: Repository
    revisions: list[str]
    seed: int
    broken: frozenset[str] = frozenset()
    jobs: int = 0

    def get(self, path: str, **query: Any) -> Any:
        answer = self.lab.client.get(
            f"{PREFIX}{path}", headers=self.headers, params=query
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: dict[str, Any], status: int = 200) -> Any:
        answer = self.lab.client.post(
            f"{PREFIX}{path}", headers=self.headers, json=body
        )
        assert answer.status_code == status, answer.text
        return answer.json()

    def alert(self) -> dict[str, Any]:
        """The only alert."""
        alerts = self.get("/alerts")["items"]
        assert len(alerts) == 1
        return dict(self.get(f"/alerts/{alerts[0]['id']}"))

    def nights(self, count: int, commit: str, *, evaluate: bool = True) -> None:
        """Measure one commit night after night."""
        rng = np.random.default_rng((self.seed, self.past.nights))
        for _ in range(count):
            self.clock.advance(NIGHT.total_seconds())
            value = (
                LEVEL
                * self.repository.cost(commit)
                * float(np.exp(rng.normal(0.0, 0.004)))
            )
            job_id = self.past.night(
                {TIME: value},
                commit=commit,
                artifact=self.repository.artifact(commit),
                evaluate=evaluate,
            )
            if evaluate:
                with session_scope() as session:
                    outbox.add(session, "alerts.history", job_id)
                outbox.drain()

    def work_off(self, jobs: int | None = None) -> None:
        """Deliver every batch the server asks for, until nothing is left to measure or (`jobs`) another job
        of the bisection would begin."""
        self.clock.advance(COOLDOWN_S)
        outbox.drain()
        seen: set[str] = set()
        while waiting := [
            run for state in ("queued", "active") for run in self._runs(state)
        ]:
            assert len(waiting) == 1, "one A/B job at a time"
            run = waiting[0]
            if jobs is not None and run["id"] not in seen and len(seen) == jobs:
                return
            self.jobs += run["id"] not in seen
            seen.add(run["id"])
            self._measure(run["base_commit"], run["commit"])
            outbox.drain()

    def _runs(self, state: str) -> list[dict[str, Any]]:
        return list(self.get("/runs", state=state)["items"])

    def _measure(self, base: str, head: str) -> None:
        self.seed += 1
        if head in self.broken:
            leased = self.lab.agent.lease()
            leased.report("preparing")
            answer = leased.finish(
                -1, "failed", cause="build_failed", detail="cc: error"
            )
            assert answer.status_code == 204, answer.text
            return
        repository = self.repository
        effect = repository.cost(head) / repository.cost(base) - 1.0
        self.lab.deliver_ab(
            {1000: effect},
            seed=self.seed,
            biased_share=BIASED_SHARE,
            artifacts=(repository.artifact(base), repository.artifact(head)),
            commits=repository.between(base, head),
        )


@pytest.fixture
def hunt(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    tmp_path: Path,
) -> Callable[..., Hunt]:
    """`hunt(culprit=20, seed=1)` → 20 nights of the base and 10 of a head 32 commits later."""
    process_settings.set_current(
        process_settings.current().model_copy(
            update={"confirm_cooldown_s": COOLDOWN_S, "lease_s": 1e9}
        )
    )

    def start(
        *,
        culprit: int,
        seed: int,
        commits: int = 32,
        slower: float = 0.06,
        broken: Sequence[int] = (),
        docs: Sequence[int] = (),
        merged: range = range(0),
    ) -> Hunt:
        repository, revisions = grown(
            tmp_path / "repository",
            commits=commits,
            culprit=culprit,
            slower=slower,
            seed=seed,
            docs=docs,
            merged=merged,
        )
        lab = open_lab(client, enrolled, token)
        begun = Hunt(
            lab,
            NightlyJobs(lab.target_id),
            clock,
            token("read", "alerts:write", "ingest"),
            repository,
            revisions,
            1000 * seed,
            frozenset(revisions[1 + at] for at in broken),
        )
        begun.nights(20, revisions[0], evaluate=False)
        begun.nights(9, revisions[-1], evaluate=False)
        begun.nights(1, revisions[-1])
        return begun

    return start
