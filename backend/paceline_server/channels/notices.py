"""What happened, as people are told: the same notice for every channel, log and feed.

Whoever publishes a notice words it; a channel only lays it out. So a number in a message is always one that the API gives.
A channel without filters wants every notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from paceline_server.kernel import globs
from paceline_server.store.tables.channels import Notification

Severity = Literal["critical", "warning", "info"]
SHOWN = (
    *("title", "summary", "text", "url", "target", "demonstration", "links", "ratios"),
)
"""The fields that only people read; the others are columns, by which channels filter."""
LISTED = 10
"""Launches that are named one by one."""


@dataclass(frozen=True)
class Link:
    """A page beside that of the notice."""

    label: str
    url: str


@dataclass(frozen=True)
class Ratios:
    """What a comparison measured launch by launch, which a channel may draw. Above `limit` is beyond the margin."""

    about: str
    values: tuple[float, ...]
    limit: float

    @property
    def words(self) -> str:
        """The same for people who see no picture."""
        if len(self.values) > LISTED:
            shown = f"{len(self.values)} launches from {min(self.values):.3g} to {max(self.values):.3g}"
        else:
            shown = ", ".join(f"{value:.3g}" for value in self.values)
        return f"{self.about}, launch by launch: {shown}; the limit is {self.limit:.3g}"


@dataclass(frozen=True)
class Notice:
    """One event.

    `kind` says what happened (`alert.opened`), `subject_id` to which object, `state` its state since. `title` and
    `summary` are one line each, `text` explains. `url` leads to its page; relative, if the server does not know its
    own address.
    """

    kind: str
    severity: Severity
    subject_id: str
    title: str
    summary: str
    text: str
    url: str
    state: str | None = None
    suite: str | None = None
    target_id: str | None = None
    target: str | None = None
    branch: str | None = None
    demonstration: bool = False
    links: tuple[Link, ...] = ()
    ratios: Ratios | None = None

    def columns(self) -> dict[str, Any]:
        """Return the values of the row that stores it."""
        values = asdict(self)
        content = {name: values.pop(name) for name in SHOWN}
        return {**values, "content": content}


def notice_of(row: Notification) -> Notice:
    """Return a stored notice."""
    content = dict(row.content)
    links = tuple(Link(**link) for link in content.pop("links", []))
    ratios = content.pop("ratios", None)
    return Notice(
        kind=row.kind,
        severity=row.severity,  # type: ignore[arg-type]  # checked when it was stored
        subject_id=row.subject_id,
        state=row.state,
        suite=row.suite,
        target_id=row.target_id,
        branch=row.branch,
        links=links,
        ratios=ratios and Ratios(**{**ratios, "values": tuple(ratios["values"])}),
        **content,
    )


FILTERED = {
    "severities": "severity",
    "kinds": "kind",
    "states": "state",
    "suites": "suite",
    "targets": "target",
    "branches": "branch",
}
"""Each filter lists patterns for one value of a notice; an empty list admits every value."""


def is_wanted(filters: Mapping[str, Sequence[str]], notice: Notice) -> bool:
    """Return whether a notice passes every filter of a channel. One without a value (a broken channel has no suite)
    passes the filter of that value, because the filter was not written about it."""
    return all(
        _passes(filters.get(name, ()), getattr(notice, field))
        for name, field in FILTERED.items()
    )


def _passes(patterns: Sequence[str], value: str | None) -> bool:
    if not patterns or value is None:
        return True
    return any(globs.matches(pattern, value) for pattern in patterns)
