"""Reads the conditions of a device with a few commands, and keeps their raw text.

Callers read before, between and after launches, never during one. A value that the device does not report is
absent and, if a verdict needs it, listed in `unknown`: an unknown temperature is not cool. `parsers/` reads the
texts, `readiness.py` judges, and the caller handles a lost connection.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

import msgspec
from paceline_contract.items import CommandOutput, Observed

from paceline import cpu_features
from paceline.adb.port import Connection, RefusedError, SlowError
from paceline.cpu_wait import SHORTEST_SHARE_S
from paceline.devices.parsers import resources, storage, top
from paceline.devices.parsers.battery import Battery, battery
from paceline.devices.parsers.frequencies import (
    Policy,
    policies,
    time_between,
    unread_frequencies,
)
from paceline.devices.parsers.processors import parse_cores
from paceline.devices.parsers.properties import is_booted
from paceline.devices.parsers.text_values import cpu_list, files_of, first_line
from paceline.devices.parsers.thermal import (
    Thermal,
    cooling_levels,
    thermal,
    unread_zones,
    zones,
)
from paceline.devices.readiness import (
    ConfigurationProblem,
    ReadinessInputs,
    configuration_errors,
)
from paceline.devices.topology import Cluster, clusters

Argv = tuple[str, ...]

CPU = "/sys/devices/system/cpu"
KERNEL: Argv = (
    "grep",
    "-H",
    "",
    "/proc/sys/kernel/random/boot_id",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/pressure/cpu",
    "/proc/pressure/memory",
    "/proc/pressure/io",
    f"{CPU}/online",
    f"{CPU}/present",
)
CLOCKS: Argv = (
    "sh",
    "-c",
    f'set -- {CPU}/cpufreq/policy*; [ -d "$1" ] || set -- {CPU}/cpu[0-9]*/cpufreq; f=; for p; do for n in '
    "related_cpus scaling_governor scaling_cur_freq scaling_max_freq scaling_min_freq cpuinfo_max_freq "
    'cpuinfo_min_freq stats/time_in_state; do f="$f $p/$n"; done; done; '
    f"grep -H '' $f {CPU}/cpu[0-9]*/cpu_capacity {CPU}/online {CPU}/present",
)
"""One process reads all files. Android's sh has no brace expansion."""
CPUINFO: Argv = ("cat", "/proc/cpuinfo")
THERMAL: Argv = ("dumpsys", "thermalservice")
BATTERY: Argv = ("dumpsys", "battery")
ZONES: Argv = (
    "sh",
    "-c",
    "cd /sys/class/thermal && grep -H '' $PWD/thermal_zone*/type $PWD/thermal_zone*/temp "
    "$PWD/cooling_device*/type $PWD/cooling_device*/cur_state",
)
TOP: Argv = ("sh", "-c", "top -b -n 1 -m 10 2>/dev/null || top -n 1 -m 10")
"""toybox needs -b without a terminal; toolbox (before Android 8) does not accept it."""

TIMEOUT_S = 10.0
"""Timeout of one command: `dumpsys` gives up after 10 s, `top` samples twice."""
MAX_TEXT = 64 * 1024
"""Most characters kept of one command's output, all of which is read. The longest seen, 80 thermal zones and a
vendor's log, has a third of it."""
SOURCES: dict[Argv, str] = {
    KERNEL: "/proc",
    CLOCKS: "cpufreq",
    THERMAL: "dumpsys thermalservice",
    BATTERY: "dumpsys battery",
    ZONES: "thermal zones",
}
"""The name of each command's output in messages."""
WANTED = (
    "boot_id",
    "thermal_status",
    "battery_c",
    "battery_percent",
    "cpu_frequency_cap_mhz",
    "cpus_online",
    "psi_cpu_percent",
    "psi_memory_percent",
)
"""Values that verdicts and readiness checks need; listed in `unknown` when the device does not report them."""


def read_clusters(connection: Connection) -> list[Cluster]:
    """Return the device's clusters, the slowest first. Raises AdbError."""
    clocks = connection.run(CLOCKS, TIMEOUT_S)
    return clusters(
        files_of(clocks.text), parse_cores(connection.run(CPUINFO, TIMEOUT_S).text)
    )


class DeviceReading(msgspec.Struct, frozen=True):
    """One reading of a device's conditions. `seen`: the values that readiness checks judge; `at_s`: when it began, on the
    observer's clock; `unread`: what was not understood in the output of each command that was run."""

    values: dict[str, Observed]
    raw: list[CommandOutput]
    seen: ReadinessInputs
    configuration: list[ConfigurationProblem]
    at_s: float = 0.0
    unread: dict[str, list[str]] = {}


class _CommandOutput(msgspec.Struct, frozen=True):
    """One command's output. `text`: all of standard output, for the parsers; `raw`: both outputs, truncated,
    to keep."""

    text: str
    raw: CommandOutput


class DeviceConditions:
    """Reads one device for one job or check. Shares and averages count since its previous reading.

    `calibrate`: a command on the device that prints `{"calibration_ns": N}`; `events`: returns the events of
    the device's log since the last call.
    """

    def __init__(
        self,
        props: Mapping[str, str],
        *,
        workdir: str = "/data/local/tmp/paceline",
        simulated: bool = False,
        calibrate: Sequence[str] = (),
        events: Callable[[], list[str]] = list,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._props, self._simulated, self._events = props, simulated, events
        self._calibrate: Argv = tuple(calibrate)
        self._df: Argv = ("df", "-k", str(PurePosixPath(workdir).parent))
        self._clock, self._start = clock, clock()
        self._policies: dict[tuple[int, ...], Policy] = {}
        self._capped: set[str] | None = None
        self._features: list[str] = []
        self._stalls: dict[str, int] = {}
        self._stalls_at_s = 0.0

    @property
    def at_ms(self) -> int:
        """Return the milliseconds since this observer was created."""
        return int((self._clock() - self._start) * 1000)

    def read(self, connection: Connection, full: bool = True) -> DeviceReading:
        """Read the conditions. `full` adds values that hardly change in a job or are expensive to read.
        Raises LostError and the other errors that end a connection."""
        at_s = self._clock()
        commands = [KERNEL, CLOCKS, THERMAL, BATTERY, self._df]
        if full:
            commands += [ZONES, TOP]
            commands += [self._calibrate] if self._calibrate else []
            commands += [] if self._features else [CPUINFO]
        outputs = {argv: self._ask(connection, argv) for argv in commands}
        charge, heat = battery(outputs[BATTERY].text), thermal(outputs[THERMAL].text)
        if charge.faked:  # a person set these values
            charge = Battery(faked=True, unread=charge.unread)
        if ZONES not in outputs and heat.status is None and charge.celsius is None:
            # Nothing else tells whether the device is hot.
            outputs[ZONES] = self._ask(connection, ZONES)
        texts = {argv: output.text for argv, output in outputs.items()}
        clocks = policies(files_of(texts[CLOCKS]))
        values, known = self._kernel(files_of(texts[KERNEL]))
        values |= self._frequencies(clocks)
        values |= _heat(heat, charge, files_of(texts.get(ZONES, "")))
        values |= _charge(charge)
        free = storage.free_bytes(texts[self._df])
        if free is not None:
            values["free_bytes"] = free
        if full:
            values |= _rest(texts.get(TOP, ""), texts.get(self._calibrate, ""))
            values |= self._cpu_features(texts.get(CPUINFO, ""))
        if events := self._events():
            values["events"] = events
        problems = configuration_errors(
            self._props, clocks, charge, simulated=self._simulated
        )
        values["configuration"] = [str(problem.name) for problem in problems]
        values["unknown"] = [
            key for key in WANTED if key not in values and key not in known
        ]
        raw = [output.raw for output in outputs.values()]
        unread = {
            THERMAL: heat.unread,
            BATTERY: charge.unread,
            CLOCKS: unread_frequencies(files_of(texts[CLOCKS])),
            KERNEL: _unread_kernel(files_of(texts[KERNEL])),
            self._df: [first_line(texts[self._df])]
            if free is None and first_line(texts[self._df])
            else [],
        }
        if ZONES in texts:
            unread[ZONES] = unread_zones(files_of(texts[ZONES]))
        return DeviceReading(
            values,
            raw,
            self._readiness_inputs(values, charge, free),
            problems,
            at_s,
            {SOURCES.get(argv, "df"): lines for argv, lines in unread.items()},
        )

    def _ask(self, connection: Connection, argv: Argv) -> _CommandOutput:
        at_ms, began = self.at_ms, self._clock()
        status: int | None = None
        try:
            done = connection.run(argv, TIMEOUT_S)
            status, text = done.rc, done.text.replace("\0", "\ufffd")
            complaint = done.stderr.decode("utf-8", "replace").replace("\0", "\ufffd")
        except (RefusedError, SlowError) as error:
            text, complaint = "", str(error)
        took_ms = int((self._clock() - began) * 1000)
        return _CommandOutput(
            text,
            CommandOutput(
                shlex.join(argv), at_ms, took_ms, (text + complaint)[:MAX_TEXT], status
            ),
        )

    def _kernel(self, files: Mapping[str, str]) -> tuple[dict[str, Observed], set[str]]:
        """Return the values, and the names of shares that are missing only for lack of an earlier reading."""
        values: dict[str, Observed] = {}
        if (
            boot := resources.boot_id(files.get("/proc/sys/kernel/random/boot_id", ""))
        ) is not None:
            values["boot_id"] = boot
        if (up := resources.uptime_s(files.get("/proc/uptime", ""))) is not None:
            values["uptime_s"] = up
        if (load := resources.load(files.get("/proc/loadavg", ""))) is not None:
            values |= {"load_1m": load[0], "load_5m": load[1]}
        memory = resources.memory_bytes(files.get("/proc/meminfo", ""))
        if "MemAvailable" in memory:
            values["memory_available_bytes"] = memory["MemAvailable"]
        if "SwapTotal" in memory and "SwapFree" in memory:
            values["swap_used_bytes"] = memory["SwapTotal"] - memory["SwapFree"]
        if (online := cpu_list(files.get(f"{CPU}/online"))) is not None:
            values["cpus_online"] = len(online)
        stalls = {
            name: waited_us
            for name in ("cpu", "memory", "io")
            if (
                waited_us := resources.stalled_us(
                    files.get(f"/proc/pressure/{name}", "")
                )
            )
            is not None
        }
        return values | self._pressure(stalls), {
            f"psi_{name}_percent" for name in stalls
        }

    def _cpu_features(self, cpuinfo: str) -> dict[str, Observed]:
        """Return the features of the CPU, read once because they do not change while a device runs."""
        if self._features:
            return {}
        self._features = cpu_features.cpu_features(cpuinfo)
        return {cpu_features.KEY: [*self._features]} if self._features else {}

    def _pressure(self, stalls: dict[str, int]) -> dict[str, Observed]:
        """Return the share of the time since the previous reading in which some task waited for the resource."""
        before, self._stalls = self._stalls, stalls
        at_s = self._clock()
        elapsed_us, self._stalls_at_s = (at_s - self._stalls_at_s) * 1e6, at_s
        if not before or elapsed_us < SHORTEST_SHARE_S * 1e6:
            return {}
        return {
            f"psi_{name}_percent": round(
                min(100 * (total - before[name]) / elapsed_us, 100.0), 2
            )
            for name, total in stalls.items()
            if total >= before.get(name, total + 1)
        }

    def _frequencies(self, clocks: list[Policy]) -> dict[str, Observed]:
        values: dict[str, Observed] = {}
        now = {
            _label(policy): policy.now_khz / 1000
            for policy in clocks
            if policy.now_khz is not None
        }
        caps = {
            _label(policy): policy.cap_khz / 1000
            for policy in clocks
            if policy.cap_khz is not None
        }
        if now:
            values["cpu_frequency_mhz"] = now
        if self._capped is None:
            self._capped = set(caps)
        if caps and set(caps) == self._capped:
            # Caps of other clocks than before would look like a change.
            values["cpu_frequency_cap_mhz"] = caps
        if governors := sorted(
            {policy.governor for policy in clocks if policy.governor is not None}
        ):
            values["governor"] = ", ".join(governors)
        since = {
            _label(policy): since_last
            for policy in clocks
            if policy.cpus in self._policies
            and (since_last := time_between(self._policies[policy.cpus], policy))
            is not None
        }
        if since:
            values["cpu_mean_mhz"] = {
                name: since_last.mean_khz / 1000 for name, since_last in since.items()
            }
            values["cpu_at_top_percent"] = {
                name: round(100 * since_last.at_top, 2)
                for name, since_last in since.items()
            }
        self._policies = {policy.cpus: policy for policy in clocks}
        return values

    def _readiness_inputs(
        self, values: Mapping[str, Observed], charge: Battery, free: int | None
    ) -> ReadinessInputs:
        status, hottest = values.get("thermal_status"), values.get("temperature_c")
        return ReadinessInputs(
            thermal_status=status if isinstance(status, int) else None,
            battery=charge,
            hottest_c=max(hottest.values())
            if isinstance(hottest, dict) and hottest
            else None,
            free_bytes=free,
            booted=is_booted(self._props) if self._props else None,
        )


def _unread_kernel(files: Mapping[str, str]) -> list[str]:
    """Return the small files of the kernel whose text is not understood; a file that was refused is absent."""
    readers: dict[str, Callable[[str], object]] = {
        "/proc/sys/kernel/random/boot_id": resources.boot_id,
        "/proc/uptime": resources.uptime_s,
        "/proc/loadavg": resources.load,
        "/proc/meminfo": resources.memory_bytes,
        f"{CPU}/online": cpu_list,
        **{
            f"/proc/pressure/{name}": resources.stalled_us
            for name in ("cpu", "memory", "io")
        },
    }
    return [
        f"{path}: {first_line(files[path])}"
        for path, read in readers.items()
        if path in files and read(files[path]) in (None, {})
    ]


def _label(policy: Policy) -> str:
    """Return `cpu4-7`, which stays the same for a policy."""
    first, last = policy.cpus[0], policy.cpus[-1]
    return f"cpu{first}" if first == last else f"cpu{first}-{last}"


def _heat(
    heat: Thermal, charge: Battery, files: Mapping[str, str]
) -> dict[str, Observed]:
    values: dict[str, Observed] = {}
    if heat.status is not None:
        values["thermal_status"] = heat.status
    celsius = {**zones(files), **heat.celsius}
    if charge.celsius is not None:
        celsius["battery"] = charge.celsius
    if celsius:
        values["temperature_c"] = celsius
    if heat.throttling:
        values["throttling"] = {
            name: float(status) for name, status in heat.throttling.items()
        }
    cooling = {
        **cooling_levels(files),
        **{device.name: device.level for device in heat.cooling},
    }
    if active := {name: float(level) for name, level in cooling.items() if level > 0}:
        values["cooling"] = active
    return values


def _charge(charge: Battery) -> dict[str, Observed]:
    known: dict[str, Observed | None] = {
        "battery_c": charge.celsius,
        "battery_percent": charge.percent,
        "on_battery": None if charge.powered is None else int(not charge.powered),
    }
    return {name: value for name, value in known.items() if value is not None}


def _rest(busy: str, calibration: str) -> dict[str, Observed]:
    values: dict[str, Observed] = {}
    if processes := top.busiest(busy):
        values["top"] = [
            f"{process.cpu_percent:g} % {process.name} ({process.pid})"
            for process in processes
        ]
    if (shortest_ns := calibration_ns(calibration)) is not None:
        values["calibration_ns"] = shortest_ns
    return values


def calibration_ns(text: str) -> int | None:
    """Return the time that a calibration program prints; None when it prints none."""
    line = next((line for line in text.splitlines() if line.startswith("{")), "")
    try:
        value = (
            msgspec.json.decode(line, type=dict[str, object]).get("calibration_ns")
            if line
            else None
        )
    except msgspec.DecodeError:
        return None
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and value > 0
        else None
    )
