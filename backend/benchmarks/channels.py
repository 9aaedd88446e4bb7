"""Measures how long messages take to two receivers, alone and beside a third that is dead.

    python backend/benchmarks/channels.py [--database sqlite|postgresql] [--events 1000] [--per-second 20] [--rounds 3]

Each event is published by itself and its delay ends when the receiver has it. Rounds alternate, so that other load
affects both; release notes quote the ratio of the p95.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from uuid import uuid4

import numpy as np
from paceline_contract.testing.ports import reserved_port
from paceline_server.channels import publishing
from paceline_server.channels.notices import Notice
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.settings import Settings
from paceline_server.runtime import broker
from paceline_server.runtime.embedded import Background
from paceline_server.store import access, migrations
from paceline_server.store import session as store
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import Database, session_scope
from paceline_server.testing import servers
from paceline_server.testing.receiver import (
    Receiver,
    ReceiverHandler,
    answering,
    receiving,
)

LIVING = 2


def publish(title: str) -> None:
    notice = Notice(
        kind="alert.opened",
        severity="critical",
        subject_id="alt_1",
        title=title,
        summary="12.6 % slower",
        text="On lab-1, native took longer.",
        url="https://paceline.example/alerts/alt_1",
    )
    with session_scope() as session, access.within_project(session, DEFAULT_PROJECT_ID):
        publishing.publish(session, notice)


def make_channels(urls: list[str]) -> None:
    """Add a webhook to each URL."""
    with session_scope() as session, access.within_project(session, DEFAULT_PROJECT_ID):
        for url in urls:
            channel = publishing.new_channel(
                f"c{uuid4().hex}", "webhook", url, origin="api", created_by="bench"
            )
            session.add(channel)
            session.flush()
            publishing.add_key(session, channel.id)


@contextmanager
def installation(options: argparse.Namespace) -> Iterator[None]:
    """A fresh database with a process that delivers, until the block ends."""
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        url, redis_url = f"sqlite:///{directory}/p.sqlite", None
        if options.database == "postgresql":
            server = stack.enter_context(servers.postgresql())
            name = f"channels_{uuid4().hex[:6]}"
            server.create_database(name)
            url = server.url(name)
            redis_url = stack.enter_context(servers.redis()).url
        migrations.upgrade(url)
        own = Settings(
            database_url=url, redis_url=redis_url, channel_networks="127.0.0.1"
        )
        process_settings.set_current(own)
        database = Database(url, redis_url)
        stack.enter_context(store.using(database))
        background = Background(own, database, broker.make_celery(own))
        background.start()
        stack.callback(background.stop)
        yield


def measure(options: argparse.Namespace, *, with_dead: bool) -> list[float]:
    """Return the delays in seconds of all messages to the living receivers. Raises RuntimeError for a lost or doubled
    one."""
    published: dict[str, float] = {}
    delays: list[float] = []
    lock = threading.Lock()

    def note(handler: ReceiverHandler) -> None:
        title = json.loads(handler.server.received[-1].body)["data"]["title"]
        with lock:
            delays.append(time.perf_counter() - published[title])
        answering(204)(handler)

    with ExitStack() as stack:
        stack.enter_context(installation(options))
        living = [stack.enter_context(receiving()) for _ in range(LIVING)]
        for server in living:
            server.usual = note
        urls = [server.url for server in living]
        if with_dead:
            port = stack.enter_context(reserved_port())
            urls.append(f"http://127.0.0.1:{port}/")
        make_channels(urls)
        began = time.perf_counter()
        pause = threading.Event()
        for number in range(options.events):
            due = began + number / options.per_second
            pause.wait(max(0.0, due - time.perf_counter()))
            published[f"n{number}"] = time.perf_counter()
            publish(f"n{number}")
        for server in living:
            check_arrivals(server, options.events)
    return delays


def check_arrivals(server: Receiver, events: int) -> None:
    """Raise RuntimeError unless each event arrived once."""
    titles = [
        json.loads(request.body)["data"]["title"] for request in server.wait_for(events)
    ]
    if len(titles) != events or len(set(titles)) != events:
        raise RuntimeError(f"{len(set(titles))} of {events} events in {len(titles)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--database", choices=["sqlite", "postgresql"], default="sqlite"
    )
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--per-second", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ratios: list[float] = []
    for number in range(options.rounds):
        p95: dict[bool, float] = {}
        for with_dead in (False, True) if number % 2 else (True, False):
            delays = measure(options, with_dead=with_dead)
            half, p95[with_dead] = np.percentile(delays, [50, 95]) * 1000
            beside = "beside a dead one" if with_dead else "alone"
            sys.stdout.write(
                f"{options.database:<10} {beside:<17} p50 {half:6.1f} ms, p95 {p95[with_dead]:6.1f} ms\n"
            )
        ratios.append(p95[True] / p95[False])
    low, middle, high = min(ratios), float(np.median(ratios)), max(ratios)
    sys.stdout.write(
        f"{options.database:<10} ratio of p95 {middle:.2f} ({low:.2f} to {high:.2f})\n"
    )


if __name__ == "__main__":
    main()
