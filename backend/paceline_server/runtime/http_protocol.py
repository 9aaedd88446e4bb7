"""Adds deadlines for what a client sends to uvicorn's HTTP/1.1 protocol.

uvicorn waits for ever for the rest of a request, so a client could hold any number of connections with half a request
on each. Here the head must arrive in `HEAD_WITHIN_S`, and the body in `BODY_WITHIN_S` plus a second for every
`BODY_BYTES_PER_S` received, as in Apache's mod_reqtimeout.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from paceline_server.kernel import problems
from paceline_server.kernel.errors import invalid_request

HEAD_WITHIN_S = 20.0
"""It also limits connections without a request, which browsers open in advance, and open again when closed."""
BODY_WITHIN_S = 30.0
BODY_BYTES_PER_S = 1024
"""The slowest accepted rate, far below any network of an agent; 8 MiB may take over two hours."""
LINGER_S = 5.0
"""Time limit for the rest of a body whose request was answered already; the client needs time to read the response."""


class Protocol(H11Protocol):
    """A connection. `_timer` limits the part of the request that it waits for; None while the server works."""

    _timer: asyncio.TimerHandle | None = None
    _expected: str = ""
    _received: int = 0
    _since: float = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the head of the first request."""
        super().connection_made(transport)
        self._expect("head", HEAD_WITHIN_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._expect("", None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle a part of a request, or several requests."""
        super().data_received(data)
        self._update_deadline()
        self._received += len(data)

    def on_response_complete(self) -> None:
        """Wait only briefly for the rest of this request."""
        super().on_response_complete()
        self._update_deadline()

    def _update_deadline(self) -> None:
        """Set the deadline for what the client must send next. A deadline that runs for it already continues."""
        cycle = getattr(self, "cycle", None)
        answered = cycle is None or cycle.response_complete
        if self.transport.is_closing():
            self._expect("", None)
        elif self.conn.their_state is h11.SEND_BODY:
            self._expect(*(("end", LINGER_S) if answered else ("body", BODY_WITHIN_S)))
        elif not answered:
            self._expect("", None)
        elif self.timeout_keep_alive_task is None or self.conn.trailing_data[0]:
            self._expect("head", HEAD_WITHIN_S)
        else:
            self._expect("", None)

    def _expect(self, part: str, seconds: float | None) -> None:
        if part == self._expected and part:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._expected, self._received, self._since = part, 0, self.loop.time()
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self._close_overdue)

    def _close_overdue(self) -> None:
        """Close the connection, unless the body arrived fast enough or the server has paused reading."""
        self._timer = None
        if self._expected == "body":
            until = self._since + BODY_WITHIN_S + self._received / BODY_BYTES_PER_S
            left = until - self.loop.time()
            if self.flow.read_paused:
                left = BODY_WITHIN_S
            if left > 0:
                self._timer = self.loop.call_later(left, self._close_overdue)
                return
        if not self.transport.is_closing():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with problem details."""
        problem = problems.to_response(invalid_request(msg))
        headers = [*problem.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=bytes(problem.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
