"""Reads `agent.toml` and the defaults of an agent.

The repositories listed there are the only ones the agent ever builds. An unknown name or a wrong type is an
error with file and line.

    [agent]                      # all optional
    name = "bench-1"
    [devices]                    # all optional: devices of an adb server on this host are used by default
    routes = ["192.168.1.20:5555"]
    [repositories.mine]
    path = "/src/mine"           # or url = "https://…"
    manifests = ["bench/suite.toml"]
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import tomllib
from pathlib import Path

import msgspec
from paceline_contract.toml_lines import TomlLines

from paceline.errors import UserError

ADDRESS = re.compile(
    r"(?:\[[0-9A-Za-z:.%]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})", re.ASCII
)


class AgentSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the agent itself."""

    name: str | None = None
    serial: str | None = None
    """Replaces the machine's own serial, in tests and on machines cloned with their machine-id."""
    min_free_bytes: int = 512 << 20
    """Free space in the data directory below which the target takes no jobs."""
    artifact_cache_bytes: int = 5 << 30


class DeviceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of Android devices. Addresses are host:port."""

    enabled: bool = True
    adb_server: str = "127.0.0.1:5037"
    """Address of Google's adb server, for devices paired over Wi-Fi and those on USB that it holds; used when one
    listens there."""
    usb: bool = True
    """Whether the agent uses devices on USB that no adb server holds. A device that it uses is hidden from `adb`."""
    routes: list[str] = []
    """Devices that listen on TCP themselves (`adb tcpip 5555`), without an adb server."""
    simulated: list[str] = []
    """Simulated devices (`python -m paceline.testing.adbd`), which are labelled as such everywhere."""
    self_test: str | None = None
    """Path of the health check's self-test, with {abi} for the device's ABI, such as
    native/hashing/build/{abi}/paceline-hashing-engines. Default: the newest in the artifact cache."""


class RepositoryConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    manifests: list[str]
    path: str | None = None
    url: str | None = None

    @property
    def location(self) -> str:
        return self.path or self.url or ""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    agent: AgentSettings = AgentSettings()
    devices: DeviceSettings = DeviceSettings()
    repositories: dict[str, RepositoryConfig] = {}


class ConfigFile:
    """An agent.toml that may change while the agent runs. `config` is what was read last."""

    def __init__(self, path: Path | None) -> None:
        """Read the file. Raises UserError with file and line."""
        self._path = path
        self._seen = self._stamp()
        self.config = load(path)

    def reload(self) -> bool:
        """Read the file again if it has changed, and return whether it was. Raises UserError, once for each change
        that cannot be used; `config` stays as it was then."""
        stamp = self._stamp()
        if stamp == self._seen:
            return False
        self._seen = stamp
        self.config = load(self._path)
        return True

    def _stamp(self) -> tuple[int, int, int] | None:
        """Return a value that differs after a change of the file; None without a file."""
        if self._path is None:
            return None
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


def load(path: Path | None) -> Config:
    """Return the configuration in `path`, or the defaults without a path. Raises UserError with file and line."""
    if path is None:
        return Config()
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror}", "Give it with --config."
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(
            f"{path} is not TOML: {error}", "See https://toml.io for its syntax."
        ) from error
    lines = TomlLines(text)
    try:
        loaded = msgspec.convert(raw, Config)
    except msgspec.ValidationError as error:
        text_of, _, where = str(error).partition(" - at `$")
        keys = [key for key in re.split(r"[.\[\]]+", where.strip("`")) if key]
        unknown = re.search(r"unknown field `(\w+)`", text_of)
        line = (
            lines.line([*keys, unknown[1]] if unknown else keys)
            if "..." not in keys
            else 1
        )
        advice = "Use [agent], [devices] and [repositories.NAME] with path or url, and manifests."
        raise UserError(
            f"{path}:{line}: {'.'.join(keys) or 'file'}: {text_of}", advice
        ) from error
    for name, repository in loaded.repositories.items():
        line = lines.line(["repositories", name])
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
            raise UserError(
                f"{path}:{line}: repository name {name!r}: expected letters, digits and -_. only"
            )
        if (repository.path is None) == (repository.url is None):
            raise UserError(
                f"{path}:{line}: repositories.{name}: expected either path or url"
            )
        if not repository.manifests:
            raise UserError(
                f"{path}:{line}: repositories.{name}.manifests: expected at least one suite.toml"
            )
    return msgspec.structs.replace(
        loaded,
        devices=_check_devices(loaded.devices, path, lines),
        repositories={
            name: _absolute(item, path) for name, item in loaded.repositories.items()
        },
    )


def _check_devices(
    devices: DeviceSettings, path: Path, lines: TomlLines
) -> DeviceSettings:
    """Check addresses, and resolve a relative self-test from agent.toml's directory. Raises UserError."""
    listed = {
        "adb_server": [devices.adb_server],
        "routes": devices.routes,
        "simulated": devices.simulated,
    }
    for key, addresses in listed.items():
        for address in addresses:
            match = ADDRESS.fullmatch(address)
            if match is None or not 0 < int(match["port"]) <= 65_535:
                place = (
                    f"{path}:{lines.line(['devices', key])}: devices.{key}: {address!r}"
                )
                advice = "A phone after `adb tcpip 5555` has port 5555."
                raise UserError(f"{place}: expected host:port", advice)
    if devices.self_test is None:
        return devices
    self_test = path.resolve().parent / Path(devices.self_test).expanduser()
    return msgspec.structs.replace(devices, self_test=str(self_test))


def _absolute(repository: RepositoryConfig, config_path: Path) -> RepositoryConfig:
    """Resolve a relative path from agent.toml's directory."""
    if repository.path is None:
        return repository
    absolute = (
        config_path.resolve().parent / Path(repository.path).expanduser()
    ).resolve()
    return msgspec.structs.replace(repository, path=str(absolute))


def data_dir(given: Path | None) -> Path:
    """Return the directory of an agent's state: the given one, or the default of the system."""
    if given is not None:
        return given.expanduser().absolute()
    if sys.platform == "win32":
        base = Path(
            os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))
        )
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(
            os.environ.get("XDG_STATE_HOME", str(Path.home() / ".local" / "state"))
        )
    return base / "paceline"


def drawn_seed() -> int:
    """Return a random seed for a run; it is recorded with the run."""
    return secrets.randbelow(2**62)
