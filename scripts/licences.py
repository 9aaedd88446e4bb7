"""Checks the licence of every dependency against the allow-list in `licences.toml`.

    python scripts/licences.py        exit 1 and one line per package whose licence is not allowed

A dependency somebody adds must never change under which terms others may use the project. It reads what the four
package managers already know: installed Python packages, Cargo's metadata, npm's lock file, the poms of `native/`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import Distribution, distributions
from pathlib import Path
from xml.etree import ElementTree

from boolean import Expression
from license_expression import ExpressionError, get_spdx_licensing

ROOT = Path(__file__).resolve().parents[1]
CARGO_WORKSPACES = ("native", "native/checkpoint/fuzz", "native/crypto/fuzz")
OWN_PACKAGES = frozenset({"paceline", "paceline-server", "paceline-contract"})

SPDX = get_spdx_licensing()
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""Python's older way of stating a licence. "BSD License" does not say which; all forms of it are allowed."""


@dataclass(frozen=True)
class Package:
    """One dependency and the SPDX expression its publisher states ("" when none is stated)."""

    manager: str
    name: str
    version: str
    licence: str


@dataclass(frozen=True)
class Policy:
    """The allow-list: licences for everybody, and licences of named packages with a reason."""

    allowed: frozenset[str]
    exceptions: dict[tuple[str, str], str]
    stated: dict[tuple[str, str], str]

    @classmethod
    def read(cls, text: str) -> Policy:
        """Read the policy. Raises KeyError or TOMLDecodeError if the file lacks a part, ValueError for an exception without
        a reason."""
        content = tomllib.loads(text)
        exceptions = {}
        for manager, packages in content["exceptions"].items():
            for name, entry in packages.items():
                if not entry["reason"].strip():
                    raise ValueError(
                        f"licences.toml: the exception for {manager} {name} gives no reason"
                    )
                exceptions[manager, name] = entry["licence"]
        stated = {
            (manager, name): licence
            for manager, packages in content["stated"].items()
            for name, licence in packages.items()
        }
        return cls(frozenset(content["allowed"]), exceptions, stated)

    def complaint(self, package: Package) -> str | None:
        """Return a sentence if the package may not be used, else None."""
        key = (package.manager, package.name)
        licence = self.stated.get(key) or package.licence
        where = f"{package.manager} {package.name} {package.version}".rstrip()
        if not licence:
            return f"{where}: states no licence; read its licence file and name it under [stated.{package.manager}]"
        allowed = self.allowed | {
            exception
            for (manager, pattern), exception in self.exceptions.items()
            if manager == package.manager and fnmatchcase(package.name, pattern)
        }
        try:
            permitted = is_permitted(SPDX.parse(licence, validate=True), allowed)
        except ExpressionError as error:
            return f"{where}: '{licence}' is no SPDX expression ({error}); name it under [stated.{package.manager}]"
        if permitted:
            return None
        return f"{where}: {licence} is not allowed; use another package, or add an exception with its reason"


def is_permitted(expression: Expression, allowed: frozenset[str]) -> bool:
    """Return whether the terms can be met: every part of an AND, at least one part of an OR."""
    if isinstance(expression, SPDX.AND):
        return all(is_permitted(part, allowed) for part in expression.args)
    if isinstance(expression, SPDX.OR):
        return any(is_permitted(part, allowed) for part in expression.args)
    return str(expression) in allowed


def python_packages() -> Iterator[Package]:
    for distribution in distributions():
        if distribution.name not in OWN_PACKAGES:
            yield Package(
                "python",
                distribution.name,
                distribution.version,
                python_licence(distribution),
            )


def python_licence(distribution: Distribution) -> str:
    metadata = distribution.metadata
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    stated = metadata["License"].strip() if "License" in metadata else ""
    if stated and is_spdx(stated):
        return stated
    named = [
        CLASSIFIERS[classifier.rpartition(" :: ")[2]]
        for classifier in metadata.get_all("Classifier") or []
        if classifier.rpartition(" :: ")[2] in CLASSIFIERS
    ]
    return " OR ".join(named)


def is_spdx(text: str) -> bool:
    try:
        SPDX.parse(text, validate=True)
    except ExpressionError:
        return False
    return True


def cargo_packages() -> Iterator[Package]:
    for workspace in CARGO_WORKSPACES:
        # Cargo's errors stay visible; the usual one is a lock file that does not follow its Cargo.toml.
        listed = subprocess.run(
            [
                "cargo",
                "metadata",
                "--format-version=1",
                "--locked",
                f"--manifest-path={ROOT / workspace / 'Cargo.toml'}",
            ],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        for package in json.loads(listed)["packages"]:
            if package["source"] is not None:  # our own crates have none
                # Cargo's form before SPDX: "MIT/Apache-2.0".
                licence = re.sub(r"\s*/\s*", " OR ", package["license"] or "")
                yield Package("cargo", package["name"], package["version"], licence)


def npm_packages() -> Iterator[Package]:
    locked = json.loads(
        (ROOT / "frontend" / "package-lock.json").read_text(encoding="utf-8")
    )["packages"]
    for path, package in locked.items():
        if path:  # "" is the frontend itself
            name = path.rpartition("node_modules/")[2]
            yield Package("npm", name, package["version"], package.get("license", ""))


def maven_packages() -> Iterator[Package]:
    # Git finds the files, because builds beside this make and remove directories.
    listed = subprocess.run(
        ["git", "ls-files", "-z", "native/*pom.xml"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.split("\0")
    for pom in filter(None, listed):
        tree = ElementTree.parse(ROOT / pom)  # noqa: S314 - our own file
        for dependency in tree.iterfind(".//{*}dependency"):
            group, artifact = (
                dependency.findtext(f"{{*}}{part}", "")
                for part in ("groupId", "artifactId")
            )
            if not group.startswith("dev.paceline"):
                yield Package("maven", f"{group}:{artifact}", "", "")


def all_packages() -> set[Package]:
    return {*python_packages(), *cargo_packages(), *npm_packages(), *maven_packages()}


def unused_entries(policy: Policy, packages: set[Package]) -> list[str]:
    """Return entries of the policy that no package needs any more: a stale exception would admit the next package."""
    return [
        f"licences.toml: {manager} {pattern} is no dependency any more"
        for manager, pattern in {**policy.exceptions, **policy.stated}
        if not any(
            package.manager == manager and fnmatchcase(package.name, pattern)
            for package in packages
        )
    ]


def main() -> int:
    policy = Policy.read(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    )
    packages = all_packages()
    complaints = sorted(filter(None, map(policy.complaint, packages))) + sorted(
        unused_entries(policy, packages)
    )
    sys.stdout.writelines(f"{complaint}\n" for complaint in complaints)
    sys.stdout.write(
        f"{len(packages)} dependencies checked, {len(complaints)} complaints\n"
    )
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
