"""`paceline doctor` and `paceline devices`: the state of this host and of the devices it can reach.

They need no server and change nothing. Code that speaks to devices is imported by the command that needs it,
because it takes a third of the start-up time of every other.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from paceline import config, environment, preflight
from paceline.display import terminal

if TYPE_CHECKING:
    from paceline.devices.survey import SurveyedDevice

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="PACELINE_AGENT_DATA",
        help="Where spool, mirrors and builds are kept.",
    ),
]
ConfigPath = Annotated[
    Path | None,
    typer.Option(
        "--config",
        envvar="PACELINE_AGENT_CONFIG",
        help="agent.toml, for its [devices].",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

COLOURS = {"info": "green", "warning": "yellow", "blocker": "bold red"}
STATES = {"online": "green", "in use": "green", "booting": "yellow"}


def doctor(
    as_json: Json = False, data: DataDir = None, config_path: ConfigPath = None
) -> None:
    """Says how far this host and its devices can be trusted with a measurement, and what to do. Exit 1: a
    blocker of the host."""
    findings = preflight.examine(
        config.data_dir(data), config.AgentSettings().min_free_bytes
    )
    attached = _survey(data, config_path)
    if as_json:
        facts = {
            "findings": findings,
            "environment": environment.observe(),
            "devices": attached,
        }
        _json({name: msgspec.to_builtins(value) for name, value in facts.items()})
    else:
        for finding in findings:
            _say(finding.level, COLOURS[finding.level], finding.code, finding.text)
            if finding.level != "info":
                _advise(finding.advice)
        for device in attached:
            _diagnose(device)
    if any(finding.level == "blocker" for finding in findings):
        raise typer.Exit(1)


def devices(
    as_json: Json = False, data: DataDir = None, config_path: ConfigPath = None
) -> None:
    """Lists what an agent here would drive: this host, and every Android device it can reach."""
    from paceline.devices.survey import SurveyedDevice  # noqa: PLC0415 - see above

    seen = environment.observe()
    what = f"{seen.factors['cpu_model']}, {seen.factors['cpu_threads']} threads, {seen.factors['system']}"
    host = SurveyedDevice(
        environment.serial(config.data_dir(data)),
        environment.display_name(),
        "",
        "online",
        what=what,
    )
    attached = _survey(data, config_path)
    if as_json:
        kinds = [("host", host), *(("device", device) for device in attached)]
        _json([{"kind": kind, **msgspec.to_builtins(one)} for kind, one in kinds])
        return
    table = Table("kind", "name", "serial", "state", "route", "what")
    for kind, one in [("host", host), *(("device", device) for device in attached)]:
        label = f"{kind}, simulated" if one.simulated else kind
        table.add_row(
            label,
            one.name,
            one.serial or "",
            one.state,
            one.route,
            one.what or one.reason or "",
        )
    terminal().print(table)
    if any(device.reason for device in attached):
        terminal().print(
            "See `paceline doctor` for what to do.", markup=False, highlight=False
        )


def _survey(data: Path | None, config_path: Path | None) -> list[SurveyedDevice]:
    from paceline.adb.keys import key_directory  # noqa: PLC0415 - see above
    from paceline.devices.backends import AdbBackends  # noqa: PLC0415
    from paceline.devices.survey import survey  # noqa: PLC0415

    root = config.data_dir(data)
    settings = config.load(config_path).devices
    ways = AdbBackends(settings.adb_server, key_directory(root))
    try:
        return survey(settings, ways, root / "devices")
    finally:
        ways.close()


def _diagnose(device: SurveyedDevice) -> None:
    name = f"{device.name} ({device.serial})" if device.serial else "device"
    where = (
        f"{device.state} at {device.route}. " if device.route else f"{device.state}. "
    )
    simulated = "Simulated. " if device.simulated else ""
    colour = STATES.get(device.state, "yellow")
    level = "info" if device.state in {"online", "in use"} else "warning"
    _say(level, colour, name, f"{simulated}{where}{device.reason or ''}".rstrip())
    _advise(device.advice)
    for finding in device.findings:
        _say(
            finding["level"],
            COLOURS[finding["level"]],
            f"{name} {finding['code']}",
            finding["text"],
        )
        _advise(finding["advice"])


def _say(level: str, colour: str, about: str, text: str) -> None:
    terminal().print(
        Text.assemble(Text(f"{level:>8}  ", colour), (about, "bold"), f": {text}"),
        soft_wrap=True,
    )


def _advise(advice: str | None) -> None:
    if advice:
        terminal().print(
            f"          {advice}", markup=False, highlight=False, soft_wrap=True
        )


def _json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=1) + "\n")
