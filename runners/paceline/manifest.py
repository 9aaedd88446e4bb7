"""Loads and validates `suite.toml`: how any project brings its benchmarks (schema in `native/protocol`).

Place in the journey: before anything is built. What passes here can be announced, built and run.
Invariant: every complaint names file, line and what was expected, and all of them are reported at once.
Does not build or run; `manifest_rules.py` holds what a JSON schema cannot say.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from paceline.errors import UserError
from paceline.formats.declared import Line, declared_line
from paceline.manifest_rules import broken_rules
from paceline.toml_lines import TomlLines

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

Argv = list[str]


class TargetBuild(msgspec.Struct, frozen=True):
    """How one kind of target builds and runs a workload. `abis` and `calibrate` are of devices: a host has
    one ABI, its own, and calibrates itself. `calibrate` is empty where the workload has no such command."""

    build: list[Argv]
    artifacts: list[str]
    run: Argv
    cwd: str = "."
    launch_timeout_s: float = 600.0
    toolchain: list[Argv] = []
    env: dict[str, str] = {}
    abis: list[str] = msgspec.field(default_factory=lambda: ["arm64-v8a", "x86_64"])
    calibrate: Argv = []


class Workload(msgspec.Struct, frozen=True):
    name: str
    host: TargetBuild | None = None
    android: TargetBuild | None = None


class Param(msgspec.Struct, frozen=True):
    kind: str
    values: list[int | str]
    minimum: int | None = None
    maximum: int | None = None
    pattern: str | None = None


class Benchmark(msgspec.Struct, frozen=True):
    title: str
    workload: str
    arms: list[str]
    reference: str
    device_reference: str | None = None
    params: dict[str, Param] = {}


class Knob(msgspec.Struct, frozen=True):
    kind: str
    default: int | str
    minimum: int | None = None
    maximum: int | None = None
    values: list[str] = []
    demonstration: bool = False
    workload: str | None = None


class SuiteHead(msgspec.Struct, frozen=True):
    name: str
    title: str


class LogLine(msgspec.Struct, frozen=True):
    """A line an app reports its own figures in."""

    name: str
    tag: str
    line: str
    benchmark: str | None = None


class Manifest(msgspec.Struct, frozen=True):
    """A valid manifest. `raw` is the parsed TOML as it is announced; `digest` identifies its bytes."""

    suite: SuiteHead
    workloads: list[Workload]
    benchmarks: dict[str, Benchmark]
    knobs: dict[str, Knob] = {}
    logcat: list[LogLine] = []
    raw: dict[str, Any] = {}
    digest: str = ""

    def log_lines(self) -> list[Line]:
        """What `formats.logcat` reads beside its own lines; records are named `SUITE.NAME`."""
        return [
            declared_line(f"{self.suite.name}.{one.name}", one.tag, one.line)
            for one in self.logcat
        ]


class Complaint(NamedTuple):
    """One thing wrong with a manifest."""

    line: int
    where: str
    text: str

    def show(self, name: str) -> str:
        return (
            f"{name}:{self.line}: {self.where + ': ' if self.where else ''}{self.text}"
        )


class ManifestError(UserError):
    """The manifest is not valid; one line per complaint, in file order."""

    def __init__(self, name: str, complaints: Sequence[Complaint]) -> None:
        self.complaints = sorted(set(complaints))
        super().__init__(
            "\n".join(complaint.show(name) for complaint in self.complaints)
        )


def load(path: Path) -> Manifest:
    """The manifest in `path`. Raises UserError when it cannot be read, ManifestError when it is not valid."""
    try:
        data = path.read_bytes()
    except OSError as error:
        advice = "Give the path of a suite.toml."
        raise UserError(f"{path} cannot be read: {error.strerror}", advice) from error
    return parse(data, str(path))


def parse(data: bytes, name: str) -> Manifest:
    """The manifest in `data`; `name` is what its errors call the file."""
    try:
        text = data.decode("utf-8")
        raw = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ManifestError(
            name, [Complaint(line, "", "expected UTF-8 text")]
        ) from error
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise ManifestError(
            name, [Complaint(line, "", f"not TOML: {error}")]
        ) from error
    lines = TomlLines(text)
    complaints = [
        Complaint(lines.line(path), _dotted(path), expectation)
        for error in _validator().iter_errors(raw)
        for path, expectation in _explain(error)
    ]
    if not complaints:
        complaints = [
            Complaint(lines.line(path), _dotted(path), expectation)
            for path, expectation in broken_rules(raw)
        ]
    if complaints:
        raise ManifestError(name, complaints)
    manifest = msgspec.convert(raw, Manifest)
    return msgspec.structs.replace(
        manifest, raw=raw, digest=hashlib.sha256(data).hexdigest()
    )


@cache
def _validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - a tenth of a second that few commands need

    return Draft202012Validator(json.loads(_schema_path().read_text(encoding="utf-8")))


def _schema_path() -> Path:
    """The schema inside the installed package, or in the source tree this package is run from."""
    here = Path(__file__).resolve()
    tree = (
        parent / "native" / "protocol" / "suite.schema.json" for parent in here.parents
    )
    for candidate in (here.with_name("suite.schema.json"), *tree):
        if candidate.is_file():
            return candidate
    raise UserError(
        "suite.schema.json is missing from this installation", "Install paceline again."
    )


Located = tuple[tuple[str | int, ...], str]


def _explain(error: ValidationError) -> Iterable[Located]:
    """What was expected and where, in the words of a person, from one schema error."""
    path: tuple[str | int, ...] = tuple(error.absolute_path)
    instance: Any = error.instance
    schema: Mapping[str, Any] = (
        error.schema if isinstance(error.schema, Mapping) else {}
    )
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = sorted(schema.get("properties", {}))
        for key in set(instance) - set(known):
            yield (*path, key), f"unknown name; expected one of {', '.join(known)}"
    elif error.validator in ("oneOf", "anyOf"):
        yield from _explain_choice(error, path)
    elif error.validator == "required":
        for key in set(_sequence(error.validator_value)) - set(instance):
            yield path, f"{key!r} is missing"
    else:
        yield path, _expectation(error, schema)


def _expectation(error: ValidationError, schema: Mapping[str, Any]) -> str:
    wanted: Any = error.validator_value
    found = _show(error.instance)
    match error.validator:
        case "type":
            text = f"expected {_article(wanted)}, found {found}"
        case "const":
            text = f"expected {_show(wanted)}, found {found}"
        case "enum":
            text = f"expected one of {', '.join(map(str, wanted))}, found {found}"
        case "pattern":
            hint = str(schema.get("description", f"text matching {wanted}"))
            text = f"expected {hint[0].lower()}{hint[1:].rstrip('.')}; found {found}"
        case "not":
            text = f"expected a path below the manifest, without '..': found {found}"
        case "minItems" | "minLength" | "minProperties":
            text = f"expected at least {wanted}, found none"
        case "uniqueItems":
            text = "expected no value twice"
        case _:
            text = error.message
    return text


def _sequence(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _explain_choice(
    error: ValidationError, path: tuple[str | int, ...]
) -> Iterable[Located]:
    """Of several permitted shapes, complain about the one whose `kind` was chosen."""
    branches: defaultdict[int, list[ValidationError]] = defaultdict(list)
    for child in error.context or []:
        branches[int(child.schema_path[0])].append(child)
    kinds = [
        child.validator_value
        for children in branches.values()
        for child in children
        if child.validator == "const" and list(child.path) == ["kind"]
    ]
    if kinds and isinstance(error.instance, Mapping):
        if len(kinds) == len(branches):
            found = _show(error.instance.get("kind"))
            yield (
                (*path, "kind"),
                f"expected one of {', '.join(map(str, kinds))}, found {found}",
            )
            return
        chosen = [
            children
            for children in branches.values()
            if not any(
                list(child.path) == ["kind"] and child.validator == "const"
                for child in children
            )
        ]
        for child in chosen[0]:
            yield from _explain(child)
        return
    choices: Any = error.validator_value
    sets = dict.fromkeys(
        ", ".join(_sequence(choice.get("required"))) for choice in choices
    )
    if all(sets) and isinstance(error.instance, Mapping):
        missing = any(child.validator == "required" for child in error.context or [])
        yield path, f"expected {' or '.join(sets)}{'' if missing else ', not both'}"
    else:
        yield (
            path,
            f"expected a whole number from 0 or text, found {_show(error.instance)}",
        )


def _article(kind: object) -> str:
    names = {
        "object": "a table",
        "array": "a list",
        "string": "text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
    }
    return names.get(str(kind), str(kind))


def _show(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"


def _dotted(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
