"""Lists every device that this host could drive, without a server or an agent.

For `paceline devices` and `paceline doctor`. It changes nothing on a device and sends no command to a device
that is in use. A route where nobody answered is listed with its reason.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from paceline.adb.port import CONNECT_TIMEOUT_S, AdbError, Route
from paceline.config import DeviceSettings
from paceline.devices import connection_state as axis
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.backends import DeviceBackends
from paceline.devices.conditions import DeviceConditions
from paceline.devices.discovery import Discovery
from paceline.devices.heartbeat_report import (
    finding_entry,
    idle_readings,
    twin_findings,
)
from paceline.stop import Stop

FIRST_LOOK_S = 3.0
"""Timeout per route at first: a handshake takes well under 1 s, and a prompt may wait for a person for ever."""


class SurveyedDevice(msgspec.Struct, frozen=True):
    """A device, or a route without one yet. `state`: the connection state, or `in use`."""

    serial: str | None
    name: str
    route: str
    state: str
    reason: str | None = None
    advice: str | None = None
    simulated: bool = False
    what: str = ""
    findings: list[dict[str, str]] = []


def survey(
    config: DeviceSettings,
    backends: DeviceBackends,
    state_root: Path,
    first_look_s: float = FIRST_LOOK_S,
) -> list[SurveyedDevice]:
    """List the devices in the order of their serials, then routes without one. Empty when devices are disabled.

    A device that accepts a connection but does not answer within `first_look_s` gets a second look with the
    usual timeout: it, or this host, may be busy.
    """
    if not config.enabled:
        return []
    discovery = Discovery(config, backends, state_root, connect_s=first_look_s)
    discovery.look()
    if any(link.state == "offline" for link in discovery.unknown.values()):
        discovery.connect_s = CONNECT_TIMEOUT_S
        discovery.look()
    devices = [
        _survey_device(discovery.devices[serial], backends.usb_note(serial))
        for serial in sorted(discovery.devices)
    ]
    devices += [
        _describe_route(route, link) for route, link in discovery.unknown.items()
    ]
    if problem := backends.usb_problem():
        devices.append(
            SurveyedDevice(
                None, "nobody yet", "USB", "absent", problem.text, problem.advice
            )
        )
    return devices


def _describe_route(route: Route, link: axis.ConnectionStatus) -> SurveyedDevice:
    return SurveyedDevice(
        None, "nobody yet", str(route), link.state, link.reason, link.advice
    )


def _survey_device(device: AttachedDevice, usb_note: str) -> SurveyedDevice:
    route = str(device.route or "")
    notes = [finding_entry("usb", usb_note, "", "info")] if usb_note else []
    notes += twin_findings(device)
    with device.claim(Stop(), timeout_s=0.0) as claimed:
        if not claimed:
            text = "An agent or a manual run is using it."
            return SurveyedDevice(
                device.serial,
                device.facts.name(device.serial),
                route,
                "in use",
                text,
                findings=notes,
            )
        online = device.look()
        findings = [*(_read_findings(device) if online else []), *notes]
        device.disconnect()
    link, facts = device.link, device.facts
    words = [facts.factors.get("soc"), facts.abi, facts.api and f"API {facts.api}"]
    return SurveyedDevice(
        serial=device.serial,
        name=facts.name(device.serial),
        route=route,
        state=link.state,
        reason=link.reason,
        advice=link.advice,
        simulated=device.simulated,
        what=", ".join(str(word) for word in words if word),
        findings=findings,
    )


def _read_findings(device: AttachedDevice) -> list[dict[str, str]]:
    """Return the readiness checks that block and the configuration errors, as a heartbeat reports them."""
    observer = DeviceConditions(
        device.facts.props, workdir=device.workdir, simulated=device.simulated
    )
    try:
        reading = observer.read(device.connection)
    except AdbError as error:
        text = f"Its conditions could not be read: {error.text}"
        return [finding_entry("conditions", text, error.advice)]
    return idle_readings(reading, frozenset()).preflight
