"""Reads a suite manifest, as TOML or as the JSON that an agent announces, and lists everything that is wrong in it.

The manifest it returns is consistent: every name in it is declared, and every value is in its range.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from paceline_contract.manifest import Manifest
from paceline_contract.manifest_rules import broken_rules, unfit_to_measure
from paceline_contract.table_problems import Located, Path, table_problems
from paceline_contract.toml_lines import TomlLines


class Problem(NamedTuple):
    """A problem of a manifest: its line (None without a text), its path, and what was expected."""

    line: int | None
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.where else self.text


class ManifestError(Exception):
    """The manifest cannot be used; `problems` says why, and its text has the first ten of them."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(map(str, problems[:10])))


def read_manifest(raw: Mapping[str, Any]) -> Manifest:
    """Return the manifest in `raw`. Raises `ManifestError`."""
    return _manifest_or_error(*_read(raw))


def read_announced_manifest(raw: Mapping[str, Any]) -> Manifest:
    """Return the manifest in `raw`, which is to be measured from now on. Raises `ManifestError`.

    It is held to the rules of `unfit_to_measure`, too, which manifests of imports and of stored runs need not keep.
    """
    return _manifest_or_error(*_read_to_measure(raw))


def read_toml(data: bytes) -> tuple[Manifest, dict[str, Any]]:
    """Return the manifest in a file's bytes, and the parsed values. Raises `ManifestError` with all problems by line."""
    try:
        text = data.decode("utf-8")
        raw = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ManifestError([Problem(line, "", "expected UTF-8 text")]) from error
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        line = int(place[1]) if place else text.count("\n") + 1
        raise ManifestError([Problem(line, "", f"not TOML: {error}")]) from error
    manifest, problems = _read_to_measure(raw)
    if manifest is None:
        raise ManifestError(find_lines(text, problems))
    return manifest, raw


def find_lines(text: str, problems: Iterable[Located]) -> list[Problem]:
    """Return problems of a file's text with their lines, in order."""
    lines = TomlLines(text)
    return sorted(
        {Problem(lines.line(path), _dotted_path(path), why) for path, why in problems}
    )


def _read(raw: Mapping[str, Any]) -> tuple[Manifest | None, list[Located]]:
    try:
        manifest = msgspec.convert(raw, Manifest)
    except msgspec.ValidationError as error:
        return None, [*table_problems(raw, Manifest)] or [((), str(error))]
    problems = [*broken_rules(manifest)]
    return None if problems else manifest, problems


def _read_to_measure(raw: Mapping[str, Any]) -> tuple[Manifest | None, list[Located]]:
    manifest, problems = _read(raw)
    if manifest is not None:
        problems = [*unfit_to_measure(manifest)]
    return None if problems else manifest, problems


def _manifest_or_error(
    manifest: Manifest | None, problems: Sequence[Located]
) -> Manifest:
    if manifest is None:
        raise ManifestError(
            [Problem(None, _dotted_path(path), text) for path, text in problems]
        )
    return manifest


def _dotted_path(path: Path) -> str:
    """Return a path as people write it: `gates[0].arm`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
