"""`paceline-server up`: the embedded shape, from nothing to a served dashboard with a run in it.

    lock → listen → migrate → account → serve → agent → first run (very first start only) → serve until told
    to end

Invariants: one `up` per data directory; nothing asks a question; there is no default password (a one-time
link signs in); ending ends everything that was started. Everything it needs lies in the data directory.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import structlog
from sqlalchemy.orm import Session

from paceline_server.accounts import service as accounts
from paceline_server.api import create_app
from paceline_server.fleet import service as fleet
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.settings import Settings, SettingsError
from paceline_server.runtime import (
    data_lock,
    first_run,
    memory,
    serving,
    simulated_devices,
)
from paceline_server.runtime.agent_child import (
    AgentChild,
    about_sources,
    clone,
    command,
    sources,
    write_config,
)
from paceline_server.runtime.simulated_devices import SimulatedDevice, SimulatedFleet
from paceline_server.store import migrations
from paceline_server.store.session import session_scope

log = structlog.get_logger("paceline.up")

OWNER = "owner"


@dataclass(frozen=True)
class Options:
    """What the command line said."""

    agent: bool = True
    first_run: bool = True
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
    with contextlib.ExitStack() as held:
        held.enter_context(data_lock.held(settings.data_dir))
        listening = held.enter_context(contextlib.closing(_listen(settings)))
        migrations.upgrade(settings.resolved_database_url)
        port = listening.getsockname()[1]
        address = serving.address(settings.host, listening)
        settings = settings.model_copy(
            update={"port": port, "public_url": settings.public_url or address}
        )
        process_settings.use(settings)
        data_lock.write_address(settings.data_dir, address)
        app = create_app(settings, serving.lifespan)
        simulated = _simulated(held, settings.data_dir, options)
        agent = AgentChild(
            address,
            settings.data_dir,
            lambda: _code_if_needed(settings.data_dir, address),
        )
        ended = threading.Event()
        after = threading.Thread(
            target=_after_start,
            args=(settings, options, agent, simulated, ended),
            name="after-start",
            daemon=True,
        )

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


def _listen(settings: Settings) -> socket.socket:
    """The port is ours from here on. Raises SettingsError naming the option that chooses another one."""
    try:
        listening = serving.bind(settings.host, settings.port)
        listening.listen()
    except (SettingsError, OSError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError) or cause.errno != errno.EADDRINUSE:
            raise
        other = _free_port_after(settings)
        raise SettingsError(
            f"cannot listen on {settings.host}:{settings.port}: another program uses this port. Choose "
            f'another one: `make run ARGS="--port {other}"`, or `paceline-server up --port {other}`'
        ) from error
    return listening


def _free_port_after(settings: Settings) -> int:
    """A port to propose: the first free one of the next hundred, else the next."""
    for port in range(settings.port + 1, min(settings.port + 100, 65_536)):
        with (
            contextlib.suppress(SettingsError),
            contextlib.closing(serving.bind(settings.host, port)),
        ):
            return port
    return settings.port + 1 if settings.port < 65_535 else 8_000


def _simulated(
    held: contextlib.ExitStack, data_dir: Path, options: Options
) -> list[SimulatedDevice]:
    """Started until `held` ends. Raises SettingsError."""
    if not options.devices:
        return []
    if not options.agent:
        raise SettingsError(
            "simulated devices are driven by the agent: leave out --no-agent, or --devices"
        )
    argv = simulated_devices.command(data_dir / "agent", options.devices)
    return held.enter_context(
        SimulatedFleet(argv, data_dir / "simulated.log", _say)
    ).devices


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
        root, here = clone(), sources()
        told = write_config(config, root, [one.address for one in simulated])
        if told and here is not None and (note := about_sources(here)):
            _say(note)
        agent.start()
        for line in simulated_devices.announced(
            simulated, config.absolute(), told=told
        ):
            _say(line)
        if options.first_run and (
            root is not None or not told
        ):  # else nothing will be announced
            first_run.request_and_follow(ended, _say, agent.log_file)
    except Exception:
        log.exception("start_incomplete")


def _sign_in_link(session: Session, settings: Settings) -> str:
    account = accounts.first_account(session) or accounts.create_account(session, OWNER)
    secret = accounts.create_link(session, account, settings.sign_in_link_minutes)
    return accounts.link_url(settings.public_url or "", secret)


def _code_if_needed(data_dir: Path, address: str) -> str | None:
    """None when the agent of this data directory is enrolled here already, else a fresh enrolment code.

    The agent's credential names the address it was enrolled at and is used there only. The database knows the
    agent, so a server of this data directory may move the credential to the address it has now: a change of
    port must not make another agent.
    """
    path = data_dir / "agent" / "credential.json"
    with session_scope() as session:
        credential = _read_credential(path)
        if credential is None:
            return fleet.create_enrolment_code(session).code
        if not fleet.is_enrolled(session, str(credential.get("agent_id"))):
            path.unlink()  # of another database: with it the agent would be refused for ever
            return fleet.create_enrolment_code(session).code
    if credential.get("server") != address:
        _write_secret(path, json.dumps({**credential, "server": address}))
    return None


def _read_credential(path: Path) -> dict[str, object] | None:
    try:
        credential = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return credential if isinstance(credential, dict) else None


def _write_secret(path: Path, text: str) -> None:
    """Readable by its owner only, from its first byte on; whole or not at all."""
    new = path.with_name(f"{path.name}.moved")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    new.replace(path)


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
