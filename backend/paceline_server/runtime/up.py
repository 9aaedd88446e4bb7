"""`paceline-server up`: the embedded shape, from nothing to a served dashboard with a run in it.

    lock → migrate → listen → account → serve → agent → first run (very first start only) → serve until told
    to end

Invariants: one `up` per data directory; nothing asks a question; there is no default password (a one-time
link signs in); ending ends everything that was started. Everything it needs lies in the data directory.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog
from sqlalchemy.orm import Session

from paceline_server.accounts import service as accounts
from paceline_server.api import create_app
from paceline_server.fleet import service as fleet
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.settings import Settings, SettingsError
from paceline_server.runtime import first_run, memory, serving
from paceline_server.runtime import simulated as peers
from paceline_server.runtime.agent_child import AgentChild, clone, command, write_config
from paceline_server.runtime.simulated import SimulatedDevice, SimulatedFleet
from paceline_server.store import migrations
from paceline_server.store.session import session_scope

log = structlog.get_logger("paceline.up")

OWNER = "owner"


@dataclass(frozen=True)
class Options:
    """What the command line said."""

    agent: bool = True
    first_run: bool = True
    port_was_chosen: bool = False
    """The person named a port: then it is that or an error, never another one."""
    devices: int = 0
    """Simulated ones to start beside the agent."""


def run(settings: Settings, options: Options) -> int:
    """Serve until SIGINT or SIGTERM. Returns the exit status; raises SettingsError with advice."""
    if not settings.embedded:
        raise SettingsError(
            "`up` is the embedded shape and PACELINE_REDIS_URL is set: unset it, "
            "or run `paceline-server api` and `paceline-server worker`"
        )
    if options.agent:
        command()
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        held.enter_context(_only_one(settings.data_dir))
        migrations.upgrade(settings.resolved_database_url)
        listening = _listen(settings, options)
        port = listening.getsockname()[1]
        host = settings.host if settings.host not in ("0.0.0.0", "::") else "127.0.0.1"  # noqa: S104 - compared
        address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        settings = settings.model_copy(update={"port": port, "public_url": settings.public_url or address})
        process_settings.use(settings)
        (settings.data_dir / "address").write_text(f"{address}\n", encoding="utf-8")
        app = create_app(settings, serving.lifespan)
        simulated = _simulated(held, settings.data_dir, options)
        agent = AgentChild(address, settings.data_dir, lambda: _code_if_needed(settings.data_dir, address))
        ended = threading.Event()
        after = threading.Thread(
            target=_after_start, args=(settings, options, agent, simulated, ended), name="after-start",
            daemon=True,
        )  # fmt: skip

        def ready() -> None:
            memory.settle()
            after.start()

        app.state.on_ready = ready

        def before_exit() -> None:
            ended.set()
            _say("\nEnding: the agent first, then the server (again to end at once) …")
            agent.stop()

        server = serving.Server(app, serving.uvicorn_config(app, settings), before_exit)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
        ended.set()
        agent.stop()
        return 0 if server.started else 1


def _listen(settings: Settings, options: Options) -> socket.socket:
    try:
        return serving.bind(settings.host, settings.port)
    except SettingsError:
        if options.port_was_chosen:
            raise
        listening = serving.bind(settings.host, 0)
        _say(f"Port {settings.port} is taken; using {listening.getsockname()[1]} instead.")
        return listening


def _simulated(held: contextlib.ExitStack, data_dir: Path, options: Options) -> list[SimulatedDevice]:
    """Started until `held` ends. Raises SettingsError."""
    if not options.devices:
        return []
    if not options.agent:
        raise SettingsError("simulated devices are driven by the agent: leave out --no-agent, or --devices")
    argv = peers.command(data_dir / "agent", options.devices)
    return held.enter_context(SimulatedFleet(argv, data_dir / "simulated.log", _say)).devices


def _after_start(
    settings: Settings,
    options: Options,
    agent: AgentChild,
    simulated: list[SimulatedDevice],
    ended: threading.Event,
) -> None:
    """Runs once the server answers: the agent, the banner, the very first run."""
    try:
        with session_scope() as session:
            link = _sign_in_link(session, settings)
        _banner(settings, link)
        if not options.agent:
            return
        config = settings.data_dir / "agent.toml"
        told = write_config(config, clone(), [one.address for one in simulated])
        agent.start()
        for line in peers.announced(simulated, config.absolute(), told=told):
            _say(line)
        if options.first_run:
            first_run.request_and_follow(ended, _say, agent.log_file)
    except Exception:
        log.exception("start_incomplete")


def _sign_in_link(session: Session, settings: Settings) -> str:
    account = accounts.first_account(session) or accounts.create_account(session, OWNER)
    secret = accounts.create_link(session, account, settings.sign_in_link_minutes)
    return accounts.link_url(settings.public_url or "", secret)


def _code_if_needed(data_dir: Path, address: str) -> str | None:
    """A fresh enrolment code unless the agent holds a credential for this address already."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        credential = json.loads((data_dir / "agent" / "credential.json").read_text(encoding="utf-8"))
        if credential.get("server") == address:
            return None
    with session_scope() as session:
        return fleet.create_enrolment_code(session).code


def _banner(settings: Settings, link: str) -> None:
    minutes = int(settings.sign_in_link_minutes)
    _say(
        f"\n  Paceline is ready:  {settings.public_url}\n"
        f"  Sign in once with:  {link}\n"
        f"                      (works once, for {minutes} minutes; "
        "another: `make sign-in-link`, or `paceline-server sign-in-link`)\n"
        f"  Data:               {settings.data_dir.absolute()}\n"
    )


def _say(text: str) -> None:
    """To the person at the terminal; logs go to stderr."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextlib.contextmanager
def _only_one(data_dir: Path) -> Iterator[None]:
    """Hold the data directory's lock. Raises SettingsError naming who has it."""
    path = data_dir / "up.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform != "win32":
            import fcntl  # noqa: PLC0415 - not on Windows

            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                address = data_dir / "address"
                where = address.read_text(encoding="utf-8").strip() if address.is_file() else "elsewhere"
                raise SettingsError(
                    f"Paceline already runs on {data_dir.absolute()}, at {where}. "
                    "End it first, or use another --data directory"
                ) from None
        yield
    finally:
        os.close(descriptor)
