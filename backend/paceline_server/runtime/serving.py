"""Serves the application: opens its socket, runs it, and shuts it down in order.

At shutdown, streams are closed first, so that the server does not wait for browsers; then requests in progress are
answered; then background work ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType

import structlog
import uvicorn
from fastapi import FastAPI

from paceline_server.api import create_app
from paceline_server.fleet import service as fleet
from paceline_server.kernel.settings import Settings, SettingsError
from paceline_server.runtime import broker, data_lock, memory
from paceline_server.runtime.http_protocol import Protocol
from paceline_server.store import migrations
from paceline_server.store.session import Database, set_database

log = structlog.get_logger("paceline.serving")

SHUTDOWN_GRACE_S = 5
"""Time limit for requests in progress at shutdown."""
HANDLER_THREADS = 64
"""Synchronous handlers that run at once; anyio's default is 40."""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the database, connect the broker and, if embedded, start background work; undo all of it at the end."""
    from anyio.to_thread import current_default_thread_limiter  # noqa: PLC0415 - needs a running loop

    settings: Settings = app.state.settings
    current_default_thread_limiter().total_tokens = HANDLER_THREADS
    database = Database(settings.resolved_database_url, settings.redis_url)
    set_database(database)
    celery = broker.make_celery(settings)
    background = None
    if settings.embedded:
        from paceline_server.runtime.embedded import Background  # noqa: PLC0415 - only needed if embedded

        background = await asyncio.to_thread(Background, settings, database, celery)
        await asyncio.to_thread(background.start)
        running = background
        app.state.checks["background"] = lambda: running.is_alive
    else:
        broker.attach(database, celery)
        app.state.checks["broker"] = lambda: broker.is_reachable(celery)
    stopping = asyncio.Event()
    noting = asyncio.create_task(_note_uptime(settings.heartbeat_s / 2, stopping))
    try:
        yield
    finally:
        app.state.tail.close()
        stopping.set()
        await asyncio.wait([noting], timeout=SHUTDOWN_GRACE_S)
        if background is not None:
            await asyncio.to_thread(background.stop)
        database.dispose()


async def _note_uptime(every_s: float, stopping: asyncio.Event) -> None:
    """Note until `stopping` that agents can be heard. Only the process that serves them knows, so no worker does."""
    while not stopping.is_set():
        try:
            await asyncio.to_thread(fleet.note_uptime)
        except Exception as error:  # An unavailable database must not end it.
            log.warning("uptime_not_noted", error=str(error)[:200])
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), every_s)


class Server(uvicorn.Server):
    """A uvicorn server that closes streams before it shuts down. `before_exit` runs in a thread before that; after a
    second signal the server does not wait for it."""

    def __init__(
        self,
        app: FastAPI,
        config: uvicorn.Config,
        before_exit: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config)
        self._app = app
        self._before_exit = before_exit
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_shutting_down = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then call `app.state.on_ready`."""
        await super().startup(sockets)
        on_ready = getattr(self._app.state, "on_ready", None)
        if self.started and on_ready is not None:
            on_ready()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._is_shutting_down or self._loop is None:
            super().handle_exit(sig, frame)
            return
        self._is_shutting_down = True
        self._loop.call_soon_threadsafe(
            lambda: asyncio.ensure_future(self._shut_down())
        )

    async def _shut_down(self) -> None:
        """Shut down in order and exit with status 0; uvicorn's own handler would raise the signal again."""
        if self._before_exit is not None:
            await asyncio.to_thread(self._before_exit)
        self._app.state.tail.close()
        self.should_exit = True


def uvicorn_config(app: FastAPI | str, settings: Settings) -> uvicorn.Config:
    """Return uvicorn's settings: our logs, proxy headers only from trusted proxies, and a time limit for shutdown."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        workers=settings.processes,
        factory=isinstance(app, str),
        http=Protocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_S,
        timeout_keep_alive=75,
        lifespan="on",
    )


def bind(host: str, port: int) -> socket.socket:
    """Return a bound socket. Raises SettingsError naming the port if it is in use or forbidden."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the listening socket has an explicit protocol. Without it, a response in two
    # writes waits 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise SettingsError(
            f"cannot listen on {host}:{port}: {error.strerror}"
        ) from error
    return listening


def serve(settings: Settings) -> int:
    """Serve in this process, or supervise several; returns the exit status. Raises SettingsError if another server
    uses the data directory or a newer version set the database up."""
    migrations.refuse_newer(settings.resolved_database_url)
    if settings.processes > 1:
        log.info(
            "listening",
            host=settings.host,
            port=settings.port,
            processes=settings.processes,
        )
        config = uvicorn_config("paceline_server.main:create", settings)
        listening = bind(settings.host, settings.port)
        with contextlib.closing(listening):
            uvicorn.supervisors.Multiprocess(config, [listening]).run()
        return 0
    with (
        data_lock.hold_lock(settings.data_dir)
        if settings.embedded
        else contextlib.nullcontext()
    ):
        app = create_app(settings, lifespan)
        app.state.on_ready = memory.tune_collector
        server = Server(app, uvicorn_config(app, settings))
        listening = bind(settings.host, settings.port)
        if settings.embedded:
            data_lock.write_address(
                settings.data_dir, local_url(settings.host, listening)
            )
        log.info("listening", host=settings.host, port=listening.getsockname()[1])
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
        return 0 if server.started else 1


def local_url(host: str, listening: socket.socket) -> str:
    """Return the URL by which programs on this machine reach the server."""
    port = listening.getsockname()[1]
    host = host if host not in ("0.0.0.0", "::") else "127.0.0.1"  # noqa: S104 - compared
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
