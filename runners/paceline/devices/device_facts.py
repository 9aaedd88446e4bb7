"""Reads a device's facts: the factors of its fingerprint, and what is needed to build for it.

The fingerprint is part of a series' identity (stats/README.md §4), so nothing that changes by itself is a factor:
no clock, address, serial or load, nor a core that is switched off. A factor that cannot be read is null, never
guessed. SHA instructions are not a factor, because they follow from the CPU.
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
"""Directory of runs on a device: the only place where a shell may write and execute on every Android."""
WORKDIR_PROPERTY = "debug.paceline.workdir"
"""Property with another work directory, for simulated devices that share the host's files."""
WORKDIR_NAME, WORKDIR_MARKER = "paceline", ".paceline-simulated"
"""The work directory is emptied, and any shell may set the property. So it must have this name and lie beside
this marker file, which only a simulated device writes."""
GIB = 2**30


class DeviceFacts(msgspec.Struct, frozen=True):
    """Facts from the device's last answer. `abis`: the preferred one first; `boot_id`: "" when unknown."""

    props: dict[str, str] = {}
    factors: dict[str, Factor] = {}
    boot_id: str = ""
    own_workdir: str = ""
    """The work directory of a simulated device that shares the host's files; otherwise empty."""

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
        """Return a name for people; not part of the device's identity."""
        model = self.props.get("ro.product.model") or "Android device"
        return f"{model} · {serial[-4:]}"


class FactTexts(msgspec.Struct, frozen=True):
    """The texts that factors are read from; empty when they could not be read."""

    kernel: str = ""
    cpuinfo: str = ""
    meminfo: str = ""
    cpus_present: str = ""


COMMANDS = {
    "kernel": ["uname", "-r"],
    "cpuinfo": ["cat", "/proc/cpuinfo"],
    "meminfo": ["cat", "/proc/meminfo"],
    "cpus_present": ["cat", "/sys/devices/system/cpu/present"],
}


def read_facts(
    connection: Connection, boot_id: str, known: DeviceFacts, *, simulated: bool = False
) -> DeviceFacts:
    """Read the facts; `known` are earlier facts of this device. Raises AdbError."""
    props = connection.props()
    own = _own_workdir(connection, props) if simulated else ""
    answers = {name: connection.run(argv) for name, argv in COMMANDS.items()}
    texts = FactTexts(
        **{name: done.text for name, done in answers.items() if done.rc == 0}
    )
    return DeviceFacts(
        props, fingerprint_factors(props, texts, known.factors), boot_id, own
    )


def _own_workdir(connection: Connection, props: dict[str, str]) -> str:
    workdir = PurePosixPath(props.get(WORKDIR_PROPERTY, ""))
    if (
        not workdir.is_absolute()
        or ".." in workdir.parts
        or workdir.name != WORKDIR_NAME
    ):
        return ""
    marked = connection.run(["cat", str(workdir.parent / WORKDIR_MARKER)]).rc == 0
    return str(workdir) if marked else ""


def fingerprint_factors(
    props: dict[str, str], texts: FactTexts, known: dict[str, Factor] | None = None
) -> dict[str, Factor]:
    """Return the factors in the texts. While a core is off, its part comes from `known`, earlier factors of the same
    model and SoC."""
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
