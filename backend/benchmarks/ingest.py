"""Measures samples per second through one API process over a loopback socket, beside a bare prototype.

    python backend/benchmarks/ingest.py [--database sqlite|postgresql] [--rounds 5] [--gzip]

The prototype (`bare_ingest.py`) decodes the same bodies and stores the same columns, without authentication,
fencing, validation, ledger or live events. Both servers run at once and take turns, so that other load affects
both; release notes quote the ratio.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
from paceline_contract.testing.ports import reserved_port
from paceline_server.accounts import service as accounts
from paceline_server.kernel import clock, ids
from paceline_server.store import access, migrations
from paceline_server.store import session as store
from paceline_server.store.session import Database, session_scope
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.projects import TargetGrant
from paceline_server.testing import servers
from paceline_server.testing.scripted_agent import announce

CHUNK = 1_000
HERE = Path(__file__).parent
READY_WITHIN_S = 30


@dataclass
class Peer:
    """One server under test."""

    name: str
    port: int
    path: str
    headers: dict[str, str]
    seq: int = 0


def chunk_template(seed: int) -> bytes:
    """One full samples item as JSON with `%d` for its seq; values as a real arm would give them."""
    rng = np.random.default_rng(seed)
    times = rng.lognormal(11.5, 0.02, CHUNK).astype(np.int64)
    item = {
        "kind": "samples",
        "seq": -1,
        "launch": 0,
        "benchmark": "sorting",
        "arm": ("old", "new")[seed % 2],
        "params": {"n": 1000, "order": "random"},
        "metric": "time",
        "unit": "ns",
        "direction": "lower",
        "phase": "measure",
        "rounds": list(range(CHUNK)),
        "positions": rng.integers(0, 2, CHUNK).tolist(),
        "iterations": [8] * CHUNK,
        "t_ns": (10**12 + np.cumsum(times)).tolist(),
        "values": (times / 8).tolist(),
    }
    return (
        json.dumps(item, separators=(",", ":"))
        .replace('"seq":-1', '"seq":%d', 1)
        .encode()
    )


TEMPLATES = [chunk_template(seed) for seed in range(8)]


def bodies(peer: Peer, count: int, chunks: int, *, compress: bool) -> list[bytes]:
    """Request bodies with fresh seqs."""
    made = []
    for _ in range(count):
        items = b",".join(
            TEMPLATES[n % len(TEMPLATES)] % (peer.seq + n) for n in range(chunks)
        )
        peer.seq += chunks
        body = b'{"items":[' + items + b"]}"
        made.append(gzip.compress(body, 1) if compress else body)
    return made


def send(
    peer: Peer, work: Sequence[bytes], connections: int, *, compress: bool
) -> float:
    """Seconds to have every body acknowledged over `connections` keep-alive connections."""
    queue, lock, faults = list(work), threading.Lock(), list[str]()
    headers = {**peer.headers, "Content-Type": "application/json"}
    if compress:
        headers["Content-Encoding"] = "gzip"

    def pump() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", peer.port, timeout=120)
        while True:
            with lock:
                if not queue or faults:
                    return
                body = queue.pop()
            connection.request("POST", peer.path, body, headers)
            answer = connection.getresponse()
            body_bytes = answer.read()
            if answer.status != 200:
                faults.append(f"{answer.status} {body_bytes[:300]!r}")

    threads = [threading.Thread(target=pump) for _ in range(connections)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    if faults:
        raise RuntimeError(f"{peer.name}: {faults[0]}")
    return seconds


@contextmanager
def serving(factory: str, port: int, env: dict[str, str]) -> Iterator[None]:
    """One uvicorn process of `factory` until the block ends."""
    argv = [
        sys.executable,
        "-m",
        "uvicorn",
        "--factory",
        factory,
        "--port",
        str(port),
        "--log-level",
        "warning",
    ]
    process = subprocess.Popen(argv, env={**os.environ, **env, "PYTHONPATH": str(HERE)})
    deadline = time.monotonic() + READY_WITHIN_S
    pause = threading.Event()
    try:
        while True:
            try:
                http.client.HTTPConnection("127.0.0.1", port, timeout=1).request(
                    "GET", "/"
                )
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{factory} did not start") from None
                pause.wait(0.05)
        yield
    finally:
        process.terminate()
        process.wait(30)


def prepared(url: str) -> dict[str, str]:
    """A migrated database with an agent that can run `demo`; returns the agent's headers."""
    migrations.upgrade(url)
    database = Database(url)
    at = clock.now()
    with store.using(database):
        with session_scope() as session:
            agent = Agent(
                id=ids.new_id("agt"),
                name="bench",
                version="0",
                granted_projects=[access.DEFAULT_PROJECT_ID],
                granted_repositories=["**"],
                granted_targets=["*"],
                enrolled_by=None,
                created_at=at,
                last_seen_at=at,
            )
            session.add(agent)
            session.flush()
            session.add(
                target := Target(
                    id=ids.new_id("tgt"),
                    kind="host",
                    serial="s",
                    name="bench",
                    agent_id=agent.id,
                    bound_at=at,
                    refuses=None,
                    factors={},
                    fingerprint="0" * 64,
                    preflight=[],
                    simulated=False,
                    last_seen_at=at,
                    created_at=at,
                )
            )
            session.flush()
            session.add(
                TargetGrant(
                    target_id=target.id,
                    project_id=access.DEFAULT_PROJECT_ID,
                    created_at=at,
                )
            )
            _, credential = accounts.issue_token(
                session, "bench", "pla", ["agent"], agent_id=agent.id
            )
            _, ci = accounts.issue_token(
                session, "ci", "plt", ["runs.create", "targets.use", "project.read"]
            )
        announce(agent.id)
    database.dispose()
    return {"Authorization": f"Bearer {credential}", "X-Ci": f"Bearer {ci}"}


def ask(
    port: int, path: str, headers: dict[str, str], body: object
) -> dict[str, object]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(
        "POST",
        f"/api/v1{path}",
        json.dumps(body),
        {**headers, "Content-Type": "application/json"},
    )
    answer = connection.getresponse()
    body_bytes = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{path}: {answer.status} {body_bytes[:300]!r}")
    return dict(json.loads(body_bytes)) if body_bytes else {}


def start_measuring_job(port: int, headers: dict[str, str]) -> Peer:
    """Lease a job of the real server and report that it is measuring."""
    ask(port, "/runs", {"Authorization": headers.pop("X-Ci")}, {"suite": "demo"})
    lease = ask(port, "/agents/self/lease", headers, {"wait_s": 0})
    headers["Lease-Token"] = str(lease["lease_token"])
    path = f"/jobs/{lease['job_id']}/attempts/{lease['attempt']}"
    ask(port, f"{path}/state", headers, {"state": "measuring"})
    return Peer("paceline", port, f"/api/v1{path}/items", headers)


def compare(
    bare: Peer, ours: Peer, options: argparse.Namespace, *, compress: bool
) -> None:
    """Alternate the two and print rates and the ratio with its spread."""
    samples = options.bodies * options.chunks * CHUNK
    rates: dict[str, list[float]] = {bare.name: [], ours.name: []}
    for number in range(options.rounds + 1):
        for peer in (bare, ours) if number % 2 else (ours, bare):
            work = bodies(peer, options.bodies, options.chunks, compress=compress)
            seconds = send(peer, work, options.connections, compress=compress)
            if number:  # the first round warms up
                rates[peer.name].append(samples / seconds)
    ratios = [
        mine / theirs
        for mine, theirs in zip(rates[ours.name], rates[bare.name], strict=True)
    ]
    shape = f"{options.database:<10} {'gzip' if compress else 'plain':<5}"
    for name, of_peer in rates.items():
        low, middle, high = (
            min(of_peer) / 1e6,
            statistics.median(of_peer) / 1e6,
            max(of_peer) / 1e6,
        )
        sys.stdout.write(
            f"{shape} {name:<8} {middle:5.2f} M samples/s ({low:.2f} to {high:.2f}, {len(of_peer)} rounds)"
            + "\n"
        )
    sys.stdout.write(
        f"{shape} ratio    {statistics.median(ratios):5.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--database", choices=["sqlite", "postgresql"], default="sqlite"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bodies", type=int, default=20, help="requests per round")
    parser.add_argument(
        "--chunks", type=int, default=50, help="chunks of 1,000 samples per request"
    )
    parser.add_argument("--connections", type=int, default=2)
    parser.add_argument(
        "--gzip", action="store_true", help="also with Content-Encoding: gzip"
    )
    options = parser.parse_args()
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        if options.database == "sqlite":
            urls = [f"sqlite:///{directory}/{name}.sqlite" for name in ("bare", "ours")]
        else:
            server = stack.enter_context(servers.postgresql())
            names = [f"{name}_{uuid4().hex[:6]}" for name in ("bare", "ours")]
            for name in names:
                server.create_database(name)
            urls = [server.url(name) for name in names]
        ports = [stack.enter_context(reserved_port()) for _ in urls]
        headers = prepared(urls[1])
        stack.enter_context(
            serving("bare_ingest:create", ports[0], {"BARE_DATABASE": urls[0]})
        )
        env = {
            "PACELINE_DATABASE_URL": urls[1],
            "PACELINE_DATA_DIR": directory,
            "PACELINE_LEASE_S": "3600",
        }
        stack.enter_context(serving("paceline_server.main:create", ports[1], env))
        bare, ours = (
            Peer("bare", ports[0], "/items", {}),
            start_measuring_job(ports[1], headers),
        )
        for compress in (False, True) if options.gzip else (False,):
            compare(bare, ours, options, compress=compress)


if __name__ == "__main__":
    with access.using(access.of_project(access.DEFAULT_PROJECT_ID)):
        main()
