"""Loads a suite manifest, `suite.toml`.

Errors are reported with file and line before anything is built. The types and rules that agent and server share
are in `paceline_contract.manifest`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
from paceline_contract import manifest as contract
from paceline_contract.manifest_reader import ManifestError as ContractError
from paceline_contract.manifest_reader import (
    Problem,
    find_lines,
    read_manifest,
    read_toml,
)

from paceline.errors import UserError
from paceline.formats.declared import Line, declared_line
from paceline.harnesses.declared import harness_problems


class Manifest(contract.Manifest, frozen=True, kw_only=True):
    """A valid manifest. `raw` is the parsed TOML as it is announced; `digest` identifies its bytes."""

    raw: dict[str, Any]
    digest: str

    def log_lines(self) -> list[Line]:
        """Return the log lines that the suite declares, for `formats.logcat`; records are named `SUITE.NAME`."""
        return [
            declared_line(f"{self.suite.name}.{line.name}", line.tag, line.line)
            for line in self.logcat
        ]


class ManifestError(UserError):
    """The manifest is not valid; one line per problem, in file order."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(
            "\n".join(f"{name}:{problem.line}: {problem}" for problem in problems)
        )


def load(path: Path) -> Manifest:
    """Return the manifest in `path`. Raises UserError if it cannot be read, ManifestError if it is not valid."""
    try:
        data = path.read_bytes()
    except OSError as error:
        advice = "Give the path of a suite.toml."
        raise UserError(f"{path} cannot be read: {error.strerror}", advice) from error
    return parse(data, str(path))


def of_raw(raw: dict[str, Any]) -> Manifest:
    """Return the manifest of parsed TOML that was made here. Raises ManifestError if it is not valid."""
    try:
        read = read_manifest(raw)
    except ContractError as error:
        raise ManifestError("the made manifest", error.problems) from error
    digest = hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()
    return Manifest(**msgspec.structs.asdict(read), raw=raw, digest=digest)


def parse(data: bytes, name: str) -> Manifest:
    """Return the manifest in `data`; errors call the file `name`."""
    try:
        manifest, raw = read_toml(data)
    except ContractError as error:
        raise ManifestError(name, error.problems) from error
    if problems := [*harness_problems(manifest)]:
        raise ManifestError(name, find_lines(data.decode(), problems))
    digest = hashlib.sha256(data).hexdigest()
    return Manifest(**msgspec.structs.asdict(manifest), raw=raw, digest=digest)
