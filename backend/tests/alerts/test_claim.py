"""A slow receiver hears of an alert once, whoever else looks for work meanwhile. Two real processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from paceline_server.alerts.service import NOTIFY
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel import settings as process_settings
from paceline_server.runtime.sweeper import ANNOUNCE_AGAIN_S
from paceline_server.store import outbox
from paceline_server.store.session import database, read_scope, session_scope
from paceline_server.store.tables.messages import OutboxMessage

WITHIN_S = 150.0
LONGEST_WAIT_S = 25.0
"""What the settings allow: another process starts meanwhile, which takes long on a busy machine."""
AlertLab = Any

WORKER = """
import sys
from datetime import datetime
from paceline_server.kernel import clock, settings
from paceline_server.runtime import handlers
from paceline_server.store import outbox, session

url, webhook, at, message_id = sys.argv[1:]
settings.use(settings.Settings(database_url=url, webhook_url=webhook))
handlers.load()
with clock.using(clock.FrozenClock(datetime.fromisoformat(at))), session.using(session.Database(url)):
    print(outbox.carry_out(int(message_id)))
"""


class SlowReceiver(ThreadingHTTPServer):
    """Answers nobody before `let_go` is set."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiver)
        self.posted: list[str] = []
        self.first = threading.Event()
        self.let_go = threading.Event()


class _Receiver(BaseHTTPRequestHandler):
    server: SlowReceiver

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append(self.headers["Idempotency-Key"])
        self.server.first.set()
        if len(self.server.posted) == 1:
            self.server.let_go.wait(WITHIN_S)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def receiver() -> Iterator[SlowReceiver]:
    server = SlowReceiver()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.let_go.set()
    server.shutdown()
    server.server_close()
    thread.join(WITHIN_S)


def _elsewhere(webhook: str, message_id: int) -> str:
    """What a worker in another process says of carrying the message out."""
    now = clock_module.now().isoformat()
    argv = [sys.executable, "-c", WORKER, database().url, webhook, now, str(message_id)]
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=WITHIN_S, check=True
    )
    return done.stdout.strip()


def _announced(after_s: float) -> list[int]:
    with read_scope() as session:
        at = clock_module.now() + timedelta(seconds=after_s)
        return outbox.unannounced(session, at, ANNOUNCE_AGAIN_S)


def test_a_slow_receiver_is_told_once(desk: AlertLab, receiver: SlowReceiver) -> None:
    alert = desk.open_alert({1000: 0.126, 2000: -0.6})
    url = f"http://127.0.0.1:{receiver.server_port}/"
    process_settings.use(
        process_settings.current().model_copy(
            update={"webhook_url": url, "webhook_timeout_s": LONGEST_WAIT_S}
        )
    )
    with session_scope() as session:
        message_id = outbox.add(session, NOTIFY, alert["id"]).id
    first = threading.Thread(target=outbox.carry_out, args=(message_id,))
    first.start()
    try:
        assert receiver.first.wait(WITHIN_S)
        assert _announced(after_s=2 * ANNOUNCE_AGAIN_S) == []
        assert _announced(after_s=outbox.CLAIM_S) == [
            message_id
        ]  # in case the first one died
        assert _elsewhere(url, message_id) == "False"
    finally:
        receiver.let_go.set()
        first.join(WITHIN_S)
    assert receiver.posted == [alert["id"]]
    with read_scope() as session:
        assert session.get_one(OutboxMessage, message_id).done_at is not None
    assert desk.alert()["history"][-1]["note"] == "log, webhook"
