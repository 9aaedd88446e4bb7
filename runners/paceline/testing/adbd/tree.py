"""Writes the files of the simulated device: directories, tools, and the kernel's files in `/sys`.

They are written before the device starts and at each step of its clock, all below the scratch root. A second
peer in the same root finds the files of the first (`/data` survives a reboot). Only `/system/peer`, by which
the device's tools ask the peer, does not exist on a phone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from paceline.testing.adbd import descriptors
from paceline.testing.adbd.scenarios import Conditions

TOOLS = (
    "am",
    "cmd",
    "dumpsys",
    "getprop",
    "input",
    "log",
    "logcat",
    "pm",
    "reboot",
    "setprop",
    "settings",
    "svc",
    "top",
    "wm",
)
"""Tools that only Android has; each asks the peer for its answer."""

TOOL = """\
#!/bin/sh
# A tool of the device: asks the peer, prints its answer and ends as it says.
at=${0%/*}/../peer
ask=$at/ask.$$
mkfifo "$ask" || exit 1
printf '%s\\0' "${0##*/}" "$@" >"$ask.argv"
echo $$ >"$at/calls"
{ read -r rc; cat; } <"$ask"
rm -f "$ask" "$ask.argv"
exit "${rc:-1}"
"""

TASKSET = """\
#!/bin/sh
# taskset of the device: its cores are more than the host may have, so a mask is folded onto those there are.
taskset={taskset} || {{ shift; exec "$@"; }}
case $1 in -*) exec "$taskset" "$@" ;; esac
mask=$((0x${{1#0x}}))
folded=0
for core in {cores}; do
  [ $((mask & 1)) = 1 ] && folded=$((folded | core))
  mask=$((mask >> 1))
done
shift
exec "$taskset" "$(printf %x "$folded")" "$@"
"""

HOSTS_TASKSET = "$(PATH=${PATH#*:}; command -v taskset)"
TOYBOXS_TASKSET = "/system/toybox/taskset"

NOT_IN_TOYBOX = ("dd",)
"""Commands of Android's toybox that Debian's lacks."""
USERS = "root:x:0:0::/:/system/bin/sh\nshell:x:2000:2000::/:/system/bin/sh\n"

TOYBOX = '#!/bin/sh\n# toybox of the device: its tools are the host\'s.\nexec "$@"\n'


@dataclass(frozen=True)
class Cluster:
    """Cores that share a clock."""

    cores: range
    frequencies_khz: tuple[int, ...]
    capacity: int
    implementer: int
    part: int


CLUSTERS = (
    Cluster(
        range(4),
        (324_000, 574_000, 930_000, 1_197_000, 1_401_000, 1_803_000),
        250,
        0x41,
        0xD05,
    ),
    Cluster(
        range(4, 6),
        (400_000, 733_000, 1_066_000, 1_491_000, 1_999_000, 2_253_000),
        620,
        0x41,
        0xD41,
    ),
    Cluster(
        range(6, 8),
        (500_000, 984_000, 1_426_000, 1_826_000, 2_401_000, 2_802_000),
        1024,
        0x41,
        0xD44,
    ),
)
"""A phone with three kinds of cores."""
CORES = sum(len(cluster.cores) for cluster in CLUSTERS)

ZONES = (
    ("BIG", 14.5),
    ("LITTLE", 9.0),
    ("G3D", 6.25),
    ("battery", None),
    ("VIRTUAL-SKIN", 0.0),
)
"""Thermal zone → degrees above the skin; None: the battery's own temperature."""

TICKS_PER_S = 100
"""`time_in_state` counts in 10 ms."""

ARM64_FEATURES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"


def prepare(root: Path, abi: str, *, androids_tools: bool = False) -> Path:
    """Write all files; return the folder with those that replace the kernel's own. With `androids_tools`,
    mksh and toybox are the device's shell and tools; raises FileNotFoundError if this host has none."""
    for name in (
        "data/local/tmp",
        "sdcard/Download",
        "system/bin",
        "system/peer",
        "tmp",
    ):
        (root / name).mkdir(parents=True, exist_ok=True)
    _write(
        root / "data/local/tmp/.paceline-simulated",
        "An agent may empty the directory `paceline` here.\n",
    )
    for name in TOOLS:
        _script(root / "system/bin" / name, TOOL)
    cores = " ".join(map(str, folded_masks()))
    taskset = TOYBOXS_TASKSET if androids_tools else HOSTS_TASKSET
    _script(root / "system/bin/taskset", TASKSET.format(cores=cores, taskset=taskset))
    if androids_tools:
        _install_androids_tools(root)
    else:
        _script(root / "system/bin/toybox", TOYBOX)
    calls = calls_of(root)
    calls.unlink(missing_ok=True)
    forget_asks(root)
    descriptors.make_pipe(calls)
    _processors(root / "sys/devices/system/cpu")
    over = root / "system/peer/over"
    _write(over / "proc/sys/kernel/random/boot_id", "")
    if abi == "arm64-v8a":
        _write(over / "proc/cpuinfo", cpuinfo())
    return over


def _install_androids_tools(root: Path) -> None:
    bin_directory = root / "system/bin"
    for name, source in {
        "sh": "mksh",
        "toybox": "toybox",
        **{name: name for name in NOT_IN_TOYBOX},
    }.items():
        program = shutil.which(source)
        if program is None:
            raise FileNotFoundError(
                f"no {source} on this host: set-up (profile test) installs it"
            )
        shutil.copy(program, bin_directory / name)
    listed = subprocess.run(
        [str(bin_directory / "toybox")], check=True, capture_output=True, text=True
    ).stdout
    for name in listed.split():
        if not (bin_directory / name).exists():
            (bin_directory / name).symlink_to("toybox")
    (root / "system/toybox").mkdir(exist_ok=True)
    for path, target in {
        "system/toybox/taskset": "../bin/toybox",
        "bin": "system/bin",
    }.items():
        if not (root / path).is_symlink():
            (root / path).symlink_to(target)
    _write(root / "etc/passwd", USERS)
    _write(root / "etc/group", USERS.replace("::/:/system/bin/sh", ":"))


def folded_masks() -> list[int]:
    """Return, for each core of the device, the mask of the host's core that represents it."""
    host_cores = (
        sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    )
    return [1 << host_cores[core % len(host_cores)] for core in range(CORES)]


def calls_of(root: Path) -> Path:
    """Return the pipe by which a tool announces a request."""
    return root / "system/peer/calls"


def forget_asks(root: Path) -> None:
    """Remove requests of tools that were killed."""
    for request in (root / "system/peer").glob("ask.*"):
        request.unlink()


def asks_of(root: Path, pid: str) -> tuple[Path, Path]:
    """Return the files of a tool's request: its arguments, and the pipe with its answer."""
    return root / f"system/peer/ask.{pid}.argv", root / f"system/peer/ask.{pid}"


def cpuinfo() -> str:
    """Return /proc/cpuinfo as arm64 kernels print it: implementer and part of each core, but no model."""
    parts = []
    for cluster in CLUSTERS:
        for core in cluster.cores:
            parts.append(
                f"processor\t: {core}\nBogoMIPS\t: 49.15\nFeatures\t: {ARM64_FEATURES}\n"
                f"CPU implementer\t: {cluster.implementer:#04x}\nCPU architecture: 8\nCPU variant\t: 0x1\n"
                f"CPU part\t: {cluster.part:#05x}\nCPU revision\t: 0\n"
            )
    return "\n".join(parts)


def write_conditions(root: Path, now: Conditions, elapsed_s: float) -> None:
    """Write the current temperatures and clocks. The time since the last call counts for the previous
    clock."""
    for number, (name, above) in enumerate(ZONES):
        zone = root / f"sys/class/thermal/thermal_zone{number}"
        celsius = now.battery_c if above is None else now.skin_c + above
        _write(zone / "type", f"{name}\n")
        _write(zone / "temp", f"{round(celsius * 1000)}\n")
    hot = now.thermal_status >= 2
    cooling = root / "sys/class/thermal/cooling_device0"
    _write(cooling / "type", "thermal-cpufreq-0\n")
    _write(cooling / "max_state", "8\n")
    _write(cooling / "cur_state", f"{4 if hot else 0}\n")
    for cluster in CLUSTERS:
        policy = root / f"sys/devices/system/cpu/cpufreq/policy{cluster.cores[0]}"
        _count(policy / "stats/time_in_state", _current(policy), elapsed_s)
        highest = cluster.frequencies_khz[-1] * now.frequency_share
        allowed = max(khz for khz in cluster.frequencies_khz if khz <= highest)
        _write(policy / "scaling_max_freq", f"{allowed}\n")
        _write(policy / "scaling_cur_freq", f"{allowed}\n")


def _current(policy: Path) -> int:
    return int((policy / "scaling_cur_freq").read_text())


def _count(stats: Path, current_khz: int, elapsed_s: float) -> None:
    lines = []
    for line in stats.read_text().splitlines():
        khz, ticks = map(int, line.split())
        lines.append(
            f"{khz} {ticks + (round(elapsed_s * TICKS_PER_S) if khz == current_khz else 0)}\n"
        )
    _write(stats, "".join(lines))


def _processors(cpus: Path) -> None:
    for name in ("online", "possible", "present"):
        _write(cpus / name, f"0-{CORES - 1}\n")
    for cluster in CLUSTERS:
        cores = " ".join(map(str, cluster.cores))
        policy = cpus / f"cpufreq/policy{cluster.cores[0]}"
        lowest, highest = cluster.frequencies_khz[0], cluster.frequencies_khz[-1]
        for name, text in {
            "affected_cpus": cores,
            "related_cpus": cores,
            "cpuinfo_min_freq": lowest,
            "cpuinfo_max_freq": highest,
            "scaling_min_freq": lowest,
            "scaling_max_freq": highest,
            "scaling_cur_freq": highest,
            "scaling_governor": "schedutil",
            "scaling_available_governors": "performance powersave schedutil",
            "scaling_available_frequencies": " ".join(map(str, cluster.frequencies_khz))
            + " ",
        }.items():
            _write(policy / name, f"{text}\n")
        _write(
            policy / "stats/time_in_state",
            "".join(f"{khz} 0\n" for khz in cluster.frequencies_khz),
        )
        for core in cluster.cores:
            cpu = cpus / f"cpu{core}"
            _write(cpu / "online", "1\n")
            _write(cpu / "cpu_capacity", f"{cluster.capacity}\n")
            _write(cpu / "topology/core_id", f"{core}\n")
            _write(cpu / "topology/physical_package_id", "0\n")
            (cpu / "cpufreq").unlink(missing_ok=True)
            (cpu / "cpufreq").symlink_to(f"../cpufreq/{policy.name}")


def _write(path: Path, text: str) -> None:
    """Write in place, because a file that is mounted over one of the kernel's must stay the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _script(path: Path, text: str) -> None:
    _write(path, text)
    path.chmod(0o755)
