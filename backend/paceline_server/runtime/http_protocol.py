"""uvicorn's HTTP/1.1 protocol with deadlines for what a client sends.

uvicorn waits for ever for the rest of a head or a body, so a stranger could hold any number of connections
with half a request on each. Here a head has `HEAD_WITHIN_S` from the connection or its first byte, and a body
`BODY_WITHIN_S` and a second more for every `BODY_BYTES_PER_S` that came (Apache's mod_reqtimeout counts in
the same way). Time in which we do not read is not counted. What could not be read as HTTP is answered by a
problem like any other.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from paceline_server.kernel import problems
from paceline_server.kernel.errors import invalid_request

HEAD_WITHIN_S = 20.0
"""For a connection without a request yet, too: browsers open some in advance, and open them again."""
BODY_WITHIN_S = 30.0
BODY_BYTES_PER_S = 1024
"""Slower than any line an agent uploads through; 8 MiB may take over two hours."""
LINGER_S = 5.0
"""For a body that nobody reads because its request was answered: time for the client to read the answer."""


class Protocol(H11Protocol):
    """One connection. `_overdue`: the timer of what is awaited from the client; None while it is our turn."""

    _overdue: asyncio.TimerHandle | None = None
    _awaited: str = ""
    _came: int = 0
    _since: float = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client connected."""
        super().connection_made(transport)
        self._await("head", HEAD_WITHIN_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client went away, or we did."""
        self._await("", None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several requests."""
        super().data_received(data)
        self._look()
        self._came += len(data)

    def on_response_complete(self) -> None:
        """Our answer has left; what the client still sends of its request is not awaited for long."""
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        """What is awaited from the client now; a deadline that already runs for it goes on."""
        cycle = getattr(self, "cycle", None)
        answered = cycle is None or cycle.response_complete
        if self.transport.is_closing():
            self._await("", None)
        elif self.conn.their_state is h11.SEND_BODY:
            self._await(*(("end", LINGER_S) if answered else ("body", BODY_WITHIN_S)))
        elif not answered:
            self._await("", None)
        elif self.timeout_keep_alive_task is None or self.conn.trailing_data[0]:
            self._await("head", HEAD_WITHIN_S)
        else:
            self._await("", None)

    def _await(self, what: str, seconds: float | None) -> None:
        if what == self._awaited and what:
            return
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None
        self._awaited, self._came, self._since = what, 0, self.loop.time()
        if seconds is not None:
            self._overdue = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        """Close, unless the body came fast enough for more time, or it is we who do not read."""
        self._overdue = None
        if self._awaited == "body":
            until = self._since + BODY_WITHIN_S + self._came / BODY_BYTES_PER_S
            left = until - self.loop.time()
            if self.flow.read_paused:
                left = BODY_WITHIN_S
            if left > 0:
                self._overdue = self.loop.call_later(left, self._end)
                return
        if not self.transport.is_closing():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        problem = problems.answer(invalid_request(msg))
        headers = [*problem.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=bytes(problem.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
