"""`paceline doctor` and `paceline devices`: the state of this host and of the devices it can reach.

They need no server and change nothing. Code for devices is imported inside the commands that need it, because it
would add a third to the start-up time of all others.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from paceline import config, environment, preflight, server_remarks
from paceline.commands.options import DataDir
from paceline.display import print_json, print_line, terminal

if TYPE_CHECKING:
    from paceline.devices.survey import SurveyedDevice

ConfigPath = Annotated[
    Path | None,
    typer.Option(
        "--config",
        envvar="PACELINE_AGENT_CONFIG",
        help="The agent.toml with the [devices] to use.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

COLOURS = {"info": "green", "warning": "yellow", "blocker": "bold red"}
STATES = {"online": "green", "in use": "green", "booting": "yellow"}


def doctor(
    as_json: Json = False, data: DataDir = None, config_path: ConfigPath = None
) -> None:
    """Check whether this host and its devices are fit to measure on.

    Exit: 1 if a finding about the host is a blocker.
    """
    settings = config.load(config_path)
    root = config.data_dir(data)
    findings = [
        *server_remarks.findings(root),
        *preflight.examine(root, settings.agent.min_free_bytes, settings.repositories),
    ]
    devices = _survey(data, config_path)
    if as_json:
        facts = {
            "findings": findings,
            "environment": environment.observe(),
            "devices": devices,
        }
        print_json(msgspec.to_builtins(facts))
    else:
        for finding in findings:
            advice = None if finding.level == "info" else finding.advice
            _print_finding(finding.level, finding.code, finding.text, advice)
        for device in devices:
            _print_device(device)
    if any(finding.level == "blocker" for finding in findings):
        raise typer.Exit(1)


def devices(
    as_json: Json = False, data: DataDir = None, config_path: ConfigPath = None
) -> None:
    """List this host and the Android devices that it can reach."""
    from paceline.devices.survey import SurveyedDevice  # noqa: PLC0415 - see above

    observed = environment.observe()
    what = f"{observed.factors['cpu_model']}, {observed.factors['cpu_threads']} threads, {observed.factors['system']}"
    host = SurveyedDevice(
        environment.serial(config.data_dir(data)),
        environment.display_name(),
        "",
        "online",
        what=what,
    )
    attached = _survey(data, config_path)
    if as_json:
        targets = [("host", host), *(("device", device) for device in attached)]
        print_json(
            [{"kind": kind, **msgspec.to_builtins(target)} for kind, target in targets]
        )
        return
    print_devices(host, attached)


def print_devices(host: SurveyedDevice, attached: list[SurveyedDevice]) -> None:
    """Print a table of targets, and below it what else a person should know about a device."""
    table = Table("kind", "name", "serial", "state", "route", "what")
    for kind, target in [("host", host), *(("device", device) for device in attached)]:
        table.add_row(
            f"{kind}, simulated" if target.simulated else kind,
            target.name,
            target.serial or "",
            target.state,
            target.route,
            target.what or target.reason or "",
        )
    terminal().print(table)
    for device in attached:
        for finding in device.findings:
            if finding["level"] == "info" or finding["code"] == "identity":
                print_line(f"{device.name} ({device.serial}): {finding['text']}")
    if any(device.reason for device in attached):
        print_line("Run `paceline doctor` for advice.")


def _survey(data: Path | None, config_path: Path | None) -> list[SurveyedDevice]:
    from paceline.adb.keys import key_directory  # noqa: PLC0415 - see above
    from paceline.adb.usb import UsbBus  # noqa: PLC0415
    from paceline.devices.backends import AdbBackends  # noqa: PLC0415
    from paceline.devices.survey import survey  # noqa: PLC0415

    root = config.data_dir(data)
    settings = config.load(config_path).devices
    usb = UsbBus() if settings.usb else None
    backends = AdbBackends(settings.adb_server, key_directory(root), usb)
    try:
        return survey(settings, backends, root / "devices")
    finally:
        backends.close()


def _print_device(device: SurveyedDevice) -> None:
    name = f"{device.name} ({device.serial})" if device.serial else "device"
    simulated = "Simulated. " if device.simulated else ""
    route = f" at {device.route}" if device.route else ""
    text = f"{simulated}{device.state}{route}. {device.reason or ''}".rstrip()
    level = "info" if device.state in {"online", "in use"} else "warning"
    colour = STATES.get(device.state, "yellow")
    _print_finding(level, name, text, device.advice, colour)
    for finding in device.findings:
        about = f"{name} {finding['code']}"
        _print_finding(finding["level"], about, finding["text"], finding["advice"])


def _print_finding(
    level: str, about: str, text: str, advice: str | None, colour: str | None = None
) -> None:
    label = Text(f"{level:>8}  ", colour or COLOURS[level])
    print_line(Text.assemble(label, (about, "bold"), f": {text}"))
    if advice:
        print_line(f"          {advice}")
