"""Reads what identifies a device: the factors of its fingerprint, and what is needed to build for it.

Facts are read when a device answers after a start, announced with every heartbeat, and part of a series'
identity (STATISTICS §4). The fingerprint is a function of the factors alone; clocks, addresses, serials and
load are none. A factor that cannot be read is null, never guessed. A core that is switched off changes no
factor, although `/proc/cpuinfo` omits it. SHA instructions are no factor: they are known only after a job
built the self-test, which would then split every series, and they follow from the CPU, which is one.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import msgspec

from paceline.adb.port import Connection
from paceline.devices.parsers import properties
from paceline.devices.parsers.processors import cpu_parts, parse_cores
from paceline.devices.parsers.resources import memory_bytes
from paceline.devices.parsers.text_values import cpu_list
from paceline.environment import Factor, fingerprint

WORKDIR = "/data/local/tmp/paceline"
"""Where runs live on a device: the one place a shell may write and execute on every Android."""
WORKDIR_PROPERTY = "debug.paceline.workdir"
"""A device's own word for another place; simulated devices without a file system of their own need it."""
WORKDIR_NAME, WORKDIR_MARKER = "paceline", ".paceline-simulated"
"""That place is emptied, and every shell of a phone may set the property: a directory of this name only,
beside a file that a simulated device lays there."""
GIB = 2**30


class DeviceFacts(msgspec.Struct, frozen=True):
    """Of the last time the device answered. `abis`: preferred one first; `boot_id` "" when unknown."""

    props: dict[str, str] = {}
    factors: dict[str, Factor] = {}
    boot_id: str = ""
    own_workdir: str = ""
    """Of a simulated device that shares the host's files; else empty."""

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.factors)

    @property
    def abis(self) -> list[str]:
        return properties.abis(self.props)

    @property
    def abi(self) -> str | None:
        return next(iter(self.abis), None)

    @property
    def api(self) -> int | None:
        return properties.api_level(self.props)

    def name(self, serial: str) -> str:
        """What people call it; no part of its identity."""
        model = self.props.get("ro.product.model") or "Android device"
        return f"{model} · {serial[-4:]}"


class FactTexts(msgspec.Struct, frozen=True):
    """What the factors are read from; a text that could not be read is empty."""

    kernel: str = ""
    cpuinfo: str = ""
    meminfo: str = ""
    cpus_present: str = ""


QUESTIONS = {
    "kernel": ["uname", "-r"],
    "cpuinfo": ["cat", "/proc/cpuinfo"],
    "meminfo": ["cat", "/proc/meminfo"],
    "cpus_present": ["cat", "/sys/devices/system/cpu/present"],
}


def read_facts(
    connection: Connection, boot_id: str, known: DeviceFacts, *, simulated: bool = False
) -> DeviceFacts:
    """Asks the device; `known` is what it said before. Raises AdbError."""
    props = connection.props()
    own = _own_workdir(connection, props) if simulated else ""
    answers = {name: connection.run(argv) for name, argv in QUESTIONS.items()}
    texts = FactTexts(
        **{name: done.text for name, done in answers.items() if done.rc == 0}
    )
    return DeviceFacts(
        props, fingerprint_factors(props, texts, known.factors), boot_id, own
    )


def _own_workdir(connection: Connection, props: dict[str, str]) -> str:
    given = PurePosixPath(props.get(WORKDIR_PROPERTY, ""))
    if not given.is_absolute() or ".." in given.parts or given.name != WORKDIR_NAME:
        return ""
    marked = connection.run(["cat", str(given.parent / WORKDIR_MARKER)]).rc == 0
    return str(given) if marked else ""


def fingerprint_factors(
    props: dict[str, str], texts: FactTexts, known: dict[str, Factor] | None = None
) -> dict[str, Factor]:
    """The factors out of the texts. `known`: earlier ones of this device; while a core is off its parts are
    taken from there when model and SoC are the same."""
    build = properties.build_factors(props)
    cores, present = parse_cores(texts.cpuinfo), cpu_list(texts.cpus_present)
    threads = len(present) if present else len(cores) or None
    parts: Factor = " + ".join(cpu_parts(texts.cpuinfo)) or None
    before = known or {}
    same = all(before.get(name) == build.get(name) for name in ("model", "soc"))
    if len(cores) != threads and same and before.get("cpu_parts"):
        parts = before["cpu_parts"]
    total = memory_bytes(texts.meminfo).get("MemTotal")
    return {
        "kind": "device",
        "system": "Android",
        "manufacturer": build.get("manufacturer"),
        "model": build.get("model"),
        "build": build.get("build"),
        "android": build.get("android"),
        "api": properties.api_level(props),
        "soc": build.get("soc"),
        "architecture": next(iter(properties.abis(props)), None),
        "cpu_parts": parts,
        "cpu_threads": threads,
        "memory_gib": None if total is None else round(total / GIB),
        "kernel": texts.kernel.strip() or None,
    }
