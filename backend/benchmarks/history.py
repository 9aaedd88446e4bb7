"""How fast history is evaluated: everything again, and one run's series after its last sample; and its pages.

    .venv/bin/python backend/benchmarks/history.py [--database postgresql] [--series 10000] [--points 200]
    .venv/bin/python backend/benchmarks/history.py --pages --series 3500 [--database postgresql]

Prints, each as seconds and per series: the detection alone over the same values (pure, one process),
evaluating every series from its points (`paceline-server recompute --from-points`, first with every change
new, then with nothing new), and the evaluation that follows the points of one job of `--run` series. One
worker, one database. A fifth of the series has a step of 2 to 20 %; scatter is 1 %, heavy-tailed.

`--pages`: median and 95th percentile of whole answers over HTTP on loopback, one request after the other, of
a server with one process, beside an answer that reads no history.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
from numpy.typing import NDArray
from paceline_contract.params import params_key
from paceline_server.accounts import service as accounts
from paceline_server.detect.changes import service as detection
from paceline_server.detect.recompute import recompute
from paceline_server.detect.schemas import JobReportOut, MeasurementOut
from paceline_server.kernel import clock, ids, logging
from paceline_server.kernel.settings import Settings
from paceline_server.runtime import memory
from paceline_server.series import point_queries as points
from paceline_server.stats import changepoint
from paceline_server.store import access, migrations
from paceline_server.store import session as store
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.decisions import JobReport
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.history import NoiseFloor
from paceline_server.store.tables.jobs import Job
from paceline_server.store.tables.projects import TargetGrant
from paceline_server.testing import servers
from paceline_server.testing.nightly_jobs import NightlyJobs
from paceline_server.testing.running_server import running
from paceline_server.testing.sorting_suite import suite_manifest
from paceline_server.testing.stored_jobs import store_finished_job
from sqlalchemy import select

STEP_SHARE = 0.2
ASKED = 100


def drawn(series: int, length: int) -> NDArray[np.float64]:
    """Values, shape (series, points): a level, Student's noise, in some a step."""
    rng = np.random.default_rng(20260105)
    noise = rng.standard_t(4, (series, length)) * 0.01
    for row in np.nonzero(rng.random(series) < STEP_SHARE)[0]:
        noise[row, rng.integers(20, length - 10) :] += rng.uniform(0.02, 0.2)
    return np.asarray(
        1e6 * rng.lognormal(0.0, 1.0, (series, 1)) * np.exp(noise), dtype=np.float64
    )


def timed(what: str, count: int, call: Callable[[], Any]) -> float:
    """Run and print."""
    started = time.perf_counter()
    call()
    seconds = time.perf_counter() - started
    sys.stdout.write(
        f"{what:<58} {seconds:8.2f} s {seconds / count * 1e3:8.3f} ms per series" + "\n"
    )
    return seconds


def filled(values: NDArray[np.float64]) -> str:
    """A target with one job per point and every series measured in each; returns the target's id."""
    at = clock.now() - timedelta(days=values.shape[1])
    target_id, agent_id = ids.new_id("tgt"), ids.new_id("agt")
    with session_scope() as session:
        session.add(
            Agent(
                id=agent_id,
                name="bench",
                version="0",
                granted_projects=[access.DEFAULT_PROJECT_ID],
                granted_repositories=["**"],
                granted_targets=["*"],
                enrolled_by=None,
                created_at=at,
                last_seen_at=at,
            )
        )
        session.flush()
        session.add(
            Target(
                id=target_id,
                kind="host",
                serial="s",
                name="bench",
                agent_id=agent_id,
                bound_at=at,
                refuses=None,
                factors={},
                fingerprint="f" * 64,
                preflight=[],
                simulated=False,
                last_seen_at=at,
                created_at=at,
            )
        )
        session.flush()
        session.add(
            TargetGrant(
                target_id=target_id,
                project_id=access.DEFAULT_PROJECT_ID,
                created_at=at,
            )
        )
        points.add_fingerprint(session, "f" * 64, {"kernel": "1"}, at)
        names = [ids.new_id("ser") for _ in values]
        points.add_series(
            session,
            [
                {
                    "id": name,
                    "suite": "sorting",
                    "benchmark": f"b_{number // 20}",
                    "arm": "native",
                    "params": {"batch": number % 20},
                    "params_key": params_key({"batch": number % 20}),
                    "metric": "time",
                    "unit": "ns",
                    "direction": "lower",
                    "target_id": target_id,
                    "branch": "main",
                    "created_at": at,
                    "last_at": at + timedelta(days=values.shape[1] - 1),
                }
                for number, name in enumerate(names)
            ],
        )
    for night in range(values.shape[1]):
        _night(
            target_id,
            names,
            values[:, night].tolist(),
            at + timedelta(days=night),
            night,
        )
    return target_id


def _night(
    target_id: str, names: list[str], values: list[float], at: Any, night: int
) -> None:
    job = store_finished_job(
        target_id,
        at,
        suite="sorting",
        manifest=suite_manifest(),
        commit=f"{night:040x}",
    )
    with session_scope() as session:
        points.add_points(
            session,
            [
                {
                    "series_id": name,
                    "job_id": job.id,
                    "run_id": job.run_id,
                    "at": at,
                    "commit": f"{night:040x}",
                    "artifact_hash": None,
                    "fingerprint": "f" * 64,
                    "value": value,
                    "lower": value,
                    "upper": value,
                    "n": 100,
                    "launches": 5,
                    "excluded": None,
                    "conditions": {},
                }
                for name, value in zip(names, values, strict=True)
            ],
        )


def reported(values: NDArray[np.float64]) -> None:
    """Stores reports of the jobs of the two newest nights, and noise floors, which a comparison of their
    revisions reads.
    """
    names = [(f"b_{number // 20}", number % 20) for number in range(values.shape[0])]
    with session_scope() as session:
        jobs = session.scalars(
            select(Job).order_by(Job.created_at.desc()).limit(2)
        ).all()
        for job, column in zip(jobs, (-1, -2), strict=True):
            rows = [
                MeasurementOut(
                    benchmark=benchmark,
                    arm="native",
                    params={"batch": batch},
                    metric="time",
                    unit="ns",
                    direction="lower",
                    launches=5,
                    n=100,
                    median=value,
                    mean=value,
                    p99=value * 1.03,
                    min=value * 0.97,
                    max=value * 1.03,
                    sd=value * 0.01,
                    flags=[],
                    median_lower=value * 0.999,
                    median_upper=value * 1.001,
                )
                for (benchmark, batch), value in zip(
                    names, values[:, column].tolist(), strict=True
                )
            ]
            report = JobReportOut(
                suite="sorting",
                revision="r",
                artifact_hash=None,
                target="bench",
                started_at=None,
                checks=[],
                measurements=rows,
                comparisons=[],
                derived=[],
                gates=[],
            )
            kept = report.model_dump(mode="json")
            session.add(
                JobReport(job_id=job.id, batch=0, report=kept, created_at=clock.now())
            )
            session.add_all(
                NoiseFloor(
                    id=ids.new_id("nfl"),
                    target_id=job.target_id,
                    suite="sorting",
                    benchmark=row.benchmark,
                    arm=row.arm,
                    params=row.params,
                    params_key=params_key(row.params),
                    metric="time",
                    mde=0.02,
                    lower=0.99,
                    upper=1.01,
                    blocks=60,
                    launches=5,
                    evidence={},
                    run_id=job.run_id,
                    job_id=job.id,
                    measured_at=job.created_at,
                )
                for row in rows
            )


def one_run(target_id: str, values: NDArray[np.float64]) -> None:
    """The evaluation that follows the points of a job of some series, shape (series, points)."""
    count, nights = values.shape
    scatter = np.exp(np.random.default_rng(7).standard_t(4, count) * 0.01)
    names = [(f"b_{number // 20}", "native", number % 20) for number in range(count)]
    past = NightlyJobs(target_id, suite="sorting", nights=nights * 400)
    job = past.night(
        dict(zip(names, (values[:, -1] * scatter).tolist(), strict=True)),
        evaluate=False,
    )

    def follow() -> None:
        with read_scope() as session:
            looked = list(
                detection.evaluate_series(
                    session, detection.series_of_job(session, job)
                )
            )
        with session_scope() as session:
            detection.store_evaluations(session, looked)

    timed(f"evaluate a run of {count} series x {nights} points", count, follow)


def asked(what: str, ask: Callable[[int], httpx.Response]) -> None:
    """Asks ASKED times and prints."""
    took = []
    for number in range(ASKED):
        started = time.perf_counter()
        ask(number).raise_for_status()
        took.append((time.perf_counter() - started) * 1e3)
    median, late = np.quantile(took, [0.5, 0.95])
    sys.stdout.write(f"{what:<44} median {median:8.1f} ms   p95 {late:8.1f} ms\n")


def pages(count: int, nights: int) -> None:
    """The requests of the pages of series to a server with this history."""
    values = drawn(count, nights)
    filled(values)
    reported(values)
    recompute("sorting", samples=False)
    sides = {"base": f"{nights - 2:040x}", "head": f"{nights - 1:040x}"}
    with session_scope() as session:
        _, secret = accounts.issue_token(session, "bench", "plt", ["project.read"])
    with tempfile.TemporaryDirectory() as data, ExitStack() as stack:
        settings = Settings(
            database_url=store.database().url, redis_url=None, data_dir=Path(data)
        )
        server = stack.enter_context(running(settings))
        memory.tune_collector()  # as every entry point of the product does
        client = stack.enter_context(
            httpx.Client(base_url=f"{server.url}/api/v1", timeout=60)
        )
        client.headers["Authorization"] = f"Bearer {secret}"
        listed = client.get(
            "/series", params={"suite": "sorting", "limit": 200}
        ).json()["items"]
        names = [one["id"] for one in listed]
        asked("alive, reads no history", lambda _: client.get(f"{server.url}/healthz"))
        asked("a series", lambda n: client.get(f"/series/{names[n % len(names)]}"))
        asked(
            "its points",
            lambda n: client.get(f"/series/{names[n % len(names)]}/points"),
        )
        asked(
            "list of series",
            lambda _: client.get("/series", params={"suite": "sorting"}),
        )
        said = client.get("/compare", params=sides).raise_for_status().json()
        asked(
            f"two revisions, {len(said['rows'])} of {said['total']} rows",
            lambda _: client.get("/compare", params=sides),
        )


@contextmanager
def database(kind: str) -> Iterator[None]:
    """An empty, migrated database of that kind is the process's."""
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        url = f"sqlite:///{directory}/history.sqlite"
        if kind == "postgresql":
            server = stack.enter_context(servers.postgresql())
            name = f"history_{uuid4().hex[:6]}"
            server.create_database(name)
            url = server.url(name)
        migrations.upgrade(url)
        db = Database(url)
        with store.using(db):
            yield
        db.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--database", choices=["sqlite", "postgresql"], default="sqlite"
    )
    parser.add_argument("--series", type=int, default=10_000)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--run", type=int, default=500, help="series of the one run")
    parser.add_argument("--pages", action="store_true", help="ask for pages instead")
    options = parser.parse_args()
    logging.configure(json=True)
    if options.pages:
        with database(options.database):
            pages(options.series, options.points)
        return
    values = drawn(options.series, options.points)
    shape = f"{options.series} series x {options.points} points"
    timed(
        f"detection alone, {shape}, one by one",
        options.series,
        lambda: list(map(changepoint.detect, values)),
    )
    size = detection.WINDOWS_AT_ONCE
    parts = [
        list(values[first : first + size]) for first in range(0, options.series, size)
    ]
    timed(
        f"the same, {size} at a time",
        options.series,
        lambda: list(map(changepoint.detect_each, parts)),
    )
    with database(options.database):
        target_id = filled(values)
        for what in ("first time", "again, nothing new"):
            timed(
                f"{options.database}: recompute {shape}, {what}",
                options.series,
                lambda: sys.stdout.write(
                    "\n".join(recompute("sorting", samples=False).lines()) + "\n"
                ),
            )
        one_run(target_id, values[: options.run])


if __name__ == "__main__":
    with access.using(access.of_project(access.DEFAULT_PROJECT_ID)):
        main()
