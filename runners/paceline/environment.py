"""Reads what identifies a host: the factors of its fingerprint and a serial that never changes.

Both are announced with every heartbeat and are part of a series' identity (stats/README.md §4). Hostname, clocks,
addresses and load are not factors. A factor that cannot be read is null, never guessed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import re
import subprocess
import sys
import uuid
from pathlib import Path

import msgspec
import psutil

Factor = str | int | float | bool | None

COMMAND_TIMEOUT_S = 20.0
"""Timeout of one command; a cold JVM on a slow host needs seconds."""


class Environment(msgspec.Struct, frozen=True):
    """`fingerprint`: sha256 (hex) of the canonical JSON of `factors`."""

    factors: dict[str, Factor]
    fingerprint: str


def observe() -> Environment:
    """Return the environment of this host, now."""
    factors: dict[str, Factor] = {
        "kind": "host",
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu_model": cpu_model(),
        "cpu_threads": psutil.cpu_count(logical=True),
        "cpu_cores": psutil.cpu_count(logical=False),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "governor": governor(),
        "libc": "-".join(platform.libc_ver()) or None,
        "virtualisation": virtualisation(),
        "python": platform.python_version(),
        "java": first_line(["java", "-version"]),
        "rustc": first_line(["rustc", "--version"]),
    }
    return Environment(factors, fingerprint(factors))


def fingerprint(factors: dict[str, Factor]) -> str:
    canonical = json.dumps(
        factors, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def serial(data_dir: Path) -> str:
    """Return a permanent identifier of this machine: from the system's id, otherwise a random one in `data_dir`."""
    system_id = _system_id()
    if system_id:
        return (
            "host-" + hashlib.sha256(b"paceline:" + system_id.encode()).hexdigest()[:20]
        )
    serial_file = data_dir / "serial"
    if not serial_file.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        serial_file.write_text(f"host-{uuid.uuid4().hex[:20]}\n")
    return serial_file.read_text().strip()


def cpu_model() -> str | None:
    if sys.platform == "linux":
        text = read_text("/proc/cpuinfo") or ""
        for key in ("model name", "Hardware", "cpu model", "uarch"):
            if match := re.search(rf"^{key}\s*:\s*(.+)$", text, re.MULTILINE):
                return match[1].strip()
        parts = re.findall(
            r"^CPU (?:implementer|part)\s*:\s*(\S+)$", text, re.MULTILINE
        )
        return f"ARM {' '.join(dict.fromkeys(parts))}" if parts else None
    elif sys.platform == "darwin":  # noqa: RET505 - mypy checks every platform's branch only in this form
        return first_line(["sysctl", "-n", "machdep.cpu.brand_string"])
    else:
        return platform.processor() or None


def governor() -> str | None:
    """Return the CPU frequency policy; mixed policies are listed."""
    if sys.platform == "linux":
        paths = Path("/sys/devices/system/cpu").glob(
            "cpu[0-9]*/cpufreq/scaling_governor"
        )
        policies = sorted({text.strip() for path in paths if (text := read_text(path))})
        return "+".join(policies) or None
    else:  # noqa: RET505 - see cpu_model
        return None


def virtualisation() -> str | None:
    """Return the virtualisation that this runs in; None on bare metal, or if the system does not tell."""
    if sys.platform == "linux":
        detected = first_line(["systemd-detect-virt"])
        if detected:
            return None if detected == "none" else detected
        flags = read_text("/proc/cpuinfo") or ""
        vendor = (read_text("/sys/class/dmi/id/sys_vendor") or "").strip()
        if re.search(r"^flags\s*:.*\bhypervisor\b", flags, re.MULTILINE):
            return vendor or "hypervisor"
        return None
    elif sys.platform == "darwin":  # noqa: RET505 - see cpu_model
        return (
            "hypervisor"
            if first_line(["sysctl", "-n", "kern.hv_vmm_present"]) == "1"
            else None
        )
    else:
        return None


def first_line(argv: list[str]) -> str | None:
    """Return the first line that a command prints on either output; None if it is missing or fails."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            argv,
            capture_output=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode == 0 or argv[0] == "systemd-detect-virt":
            text = (done.stdout or done.stderr).decode("utf-8", "replace").strip()
            return text.splitlines()[0][:200] if text else None
    return None


def read_text(path: str | Path) -> str | None:
    """Return the content of a small system file; None if it cannot be read."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return None


def _system_id() -> str | None:
    system_id: str | None = None
    if sys.platform == "linux":
        for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
            text = (read_text(path) or "").strip()
            if system_id is None and re.fullmatch(r"[0-9a-f]{32}", text):
                system_id = text
    elif sys.platform == "darwin":
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            argv = ["ioreg", "-rd1", "-c", "IOPlatformExpertDevice"]
            out = subprocess.run(
                argv,
                capture_output=True,
                text=True,
                timeout=COMMAND_TIMEOUT_S,
                check=False,
            )
            if match := re.search(r'"IOPlatformUUID" = "([^"]+)"', out.stdout):
                system_id = match[1]
    elif sys.platform == "win32":
        import winreg  # noqa: PLC0415 - exists on Windows only

        cryptography = r"SOFTWARE\Microsoft\Cryptography"
        with (
            contextlib.suppress(OSError),
            winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, cryptography) as key,
        ):
            system_id = str(winreg.QueryValueEx(key, "MachineGuid")[0])
    return system_id


def boot_id() -> str:
    """Return an id that changes with every start of the machine."""
    text = (
        read_text("/proc/sys/kernel/random/boot_id")
        if sys.platform == "linux"
        else None
    )
    return text.strip() if text else str(int(psutil.boot_time()))


def display_name() -> str:
    """Return a name of this host for people; not part of its identity."""
    return platform.node() or "this host"
