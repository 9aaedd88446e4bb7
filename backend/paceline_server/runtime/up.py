"""Starts a server with an agent and everything they need in one data directory (`paceline-server up`).

    lock → listen → migrate → serve → account → agent → first run (very first start only) → serve until a signal

It asks no questions and has no default password: a one-time link signs in. When it ends, it stops everything it
started.
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
from functools import partial
from pathlib import Path

import structlog
from sqlalchemy.orm import Session

from paceline_server.accounts import credentials
from paceline_server.accounts import service as accounts
from paceline_server.api import create_app
from paceline_server.fleet import service as fleet
from paceline_server.fleet.agents import service as agents
from paceline_server.fleet.schemas import EnrolmentCodeIn
from paceline_server.kernel import logging
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.settings import Settings, SettingsError
from paceline_server.projects import service as projects
from paceline_server.runtime import (
    data_lock,
    first_run,
    memory,
    serving,
    simulated_devices,
)
from paceline_server.runtime.agent_child import AgentChild, agent_command
from paceline_server.runtime.agent_config import (
    OwnRepository,
    describe_unmeasured,
    find_clone,
    find_repository,
    find_sources,
    is_generated,
    render_sections,
    write_config,
)
from paceline_server.runtime.simulated_devices import SimulatedDevice, SimulatedFleet
from paceline_server.store import migrations
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import session_scope
from paceline_server.store.tables.accounts import Account

log = structlog.get_logger("paceline.up")

OWNER = "owner"
STARTED_BY = "up"
"""The name in the audit log for enrolling the agent that is started here."""
CONFIG_FILE = "agent.toml"
"""The agent's configuration in the data directory."""
LOG_FILE = "server.log"
"""The log file in the data directory. With PACELINE_LOG_JSON, the log goes to stderr instead."""


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    agent: bool = True
    first_run: bool = True
    devices: int = 0
    """How many simulated devices to start."""
    repositories: tuple[str, ...] = ()
    """PATH[:MANIFEST] of each repository that the agent may measure beside this clone, now and at later starts."""


def run(settings: Settings, options: Options) -> int:
    """Serve until SIGINT or SIGTERM. Returns the exit status; raises SettingsError with advice."""
    if not settings.embedded:
        raise SettingsError(
            "`up` is the embedded shape and PACELINE_REDIS_URL is set: unset it, "
            "or run `paceline-server api` and `paceline-server worker`"
        )
    if options.agent:
        agent_command()  # If there is no agent, this fails before anything starts.
    repositories = _find_repositories(settings.data_dir / CONFIG_FILE, options)
    with contextlib.ExitStack() as resources:
        resources.enter_context(data_lock.hold_lock(settings.data_dir))
        listening = resources.enter_context(contextlib.closing(_listen(settings)))
        if settings.log_json is None:
            logging.configure(file=settings.data_dir / LOG_FILE)
        migrations.upgrade(settings.resolved_database_url)
        port = listening.getsockname()[1]
        address = serving.local_url(settings.host, listening)
        settings = settings.model_copy(
            update={"port": port, "public_url": settings.public_url or address}
        )
        process_settings.set_current(settings)
        data_lock.write_address(settings.data_dir, address)
        app = create_app(settings, serving.lifespan)
        simulated = _start_devices(resources, settings.data_dir, options)
        agent = AgentChild(
            address,
            settings.data_dir,
            settings.data_dir / CONFIG_FILE,
            lambda: _create_code_if_needed(settings.data_dir, address),
            _say,
        )
        ended = threading.Event()
        after = threading.Thread(
            target=partial(
                _after_start, simulated=simulated, repositories=repositories
            ),
            args=(settings, options, agent, ended),
            name="after-start",
            daemon=True,
        )

        def ready() -> None:
            memory.tune_collector()
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
    """Return a listening socket. Raises SettingsError with the option that chooses another port."""
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
    """Return the first free port among the next hundred; the next port if all are in use."""
    for port in range(settings.port + 1, min(settings.port + 100, 65_536)):
        with (
            contextlib.suppress(SettingsError),
            contextlib.closing(serving.bind(settings.host, port)),
        ):
            return port
    return settings.port + 1 if settings.port < 65_535 else 8_000


def _start_devices(
    resources: contextlib.ExitStack, data_dir: Path, options: Options
) -> list[SimulatedDevice]:
    """Start simulated devices, which `resources` stops. Raises SettingsError."""
    if not options.devices:
        return []
    if not options.agent:
        raise SettingsError(
            "simulated devices are driven by the agent: leave out --no-agent, or --devices"
        )
    argv = simulated_devices.fleet_command(data_dir / "agent", options.devices)
    return resources.enter_context(
        SimulatedFleet(argv, data_dir / "simulated.log", _say)
    ).devices


def _find_repositories(config: Path, options: Options) -> list[OwnRepository]:
    """Find the repositories of the command line. Raises SettingsError."""
    repositories = [find_repository(text) for text in options.repositories]
    if repositories and not options.agent:
        raise SettingsError(
            "repositories are measured by the agent: leave out --no-agent, or --repository"
        )
    if repositories and not is_generated(config):
        raise SettingsError(
            f"{config.absolute()} is your own. Leave out --repository, and add these lines there:\n"
            f"{render_sections(repositories)}"
        )
    return repositories


def _after_start(
    settings: Settings,
    options: Options,
    agent: AgentChild,
    ended: threading.Event,
    *,
    simulated: list[SimulatedDevice],
    repositories: list[OwnRepository],
) -> None:
    """Print the banner, start the agent and request the first run, once the server answers."""
    try:
        with session_scope() as session:
            link = _create_sign_in_link(session, settings)
        _print_banner(settings, link)
        if not options.agent:
            return
        config = settings.data_dir / CONFIG_FILE
        clone, sources = find_clone(), find_sources()
        own = write_config(
            config, clone, [device.address for device in simulated], repositories
        )
        configured = own is not None
        if (
            configured
            and sources is not None
            and (note := describe_unmeasured(sources))
        ):
            _say(note)
        agent.start()
        for name, repository in (own or {}).items():
            _say(
                f"  Repository {name}:  {repository.path} ({', '.join(repository.manifests)})"
            )
        for line in simulated_devices.describe_devices(
            simulated, config.absolute(), configured=configured
        ):
            _say(line)
        # Our own configuration without a clone has no suites to announce.
        if options.first_run and (clone is not None or not configured):
            first_run.request_and_follow(ended, _say, agent.log_file)
    except Exception:
        log.exception("start_incomplete")


def _create_sign_in_link(session: Session, settings: Settings) -> str:
    account = accounts.first_account(session) or _create_owner(session)
    secret = credentials.create_link(session, account, settings.sign_in_link_minutes)
    return credentials.link_url(settings.public_url or "", secret)


def _create_owner(session: Session) -> Account:
    account = accounts.create_account(session, OWNER, is_installation_admin=True)
    projects.set_member(session, DEFAULT_PROJECT_ID, account, "admin", actor="up")
    return account


def _create_code_if_needed(data_dir: Path, address: str) -> str | None:
    """Create an enrolment code; returns None if the agent of this data directory is enrolled already.

    The agent uses its credential only at the address stored with it. If the database knows the agent, that address is
    updated, so that a change of port does not create another agent.
    """
    path = data_dir / "agent" / "credential.json"
    with session_scope() as session:
        credential = _read_credential(path)
        if credential is None:
            return _create_code(session)
        if not fleet.is_enrolled(session, str(credential.get("agent_id"))):
            # The credential belongs to another database, so this server would always refuse it.
            path.unlink()
            return _create_code(session)
    if credential.get("server") != address:
        _write_secret(path, json.dumps({**credential, "server": address}))
    return None


def _create_code(session: Session) -> str:
    """Create a code for the agent of this host, which may measure whatever its agent.toml names. The agent replaces the
    one that was started here before, because the host is the same."""
    spec = EnrolmentCodeIn(replaces=agents.agent_to_replace(session, STARTED_BY))
    return fleet.create_enrolment_code(session, spec, STARTED_BY).code


def _read_credential(path: Path) -> dict[str, object] | None:
    try:
        credential = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return credential if isinstance(credential, dict) else None


def _write_secret(path: Path, text: str) -> None:
    """Replace a file atomically by one that only its owner can read."""
    new = path.with_name(f"{path.name}.moved")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    new.replace(path)


def _print_banner(settings: Settings, link: str) -> None:
    minutes = int(settings.sign_in_link_minutes)
    _say(
        f"\n  Paceline is ready:  {settings.public_url}\n"
        f"  Sign in once with:  {link}\n"
        f"                      (works once, for {minutes} minutes; "
        "another: `make sign-in-link`, or `paceline-server sign-in-link`)\n"
        f"  Data and logs:      {settings.data_dir.absolute()}\n"
    )


def _say(text: str) -> None:
    """Print to the terminal, which shows no logs."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
