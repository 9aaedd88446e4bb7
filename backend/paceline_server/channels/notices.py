"""Defines notices: what people are told about an event, the same in every channel, log and feed.

The feature that publishes a notice writes its sentences; a channel only formats them. So a number in a message is
always one that the API gives. A channel without filters gets every notice.
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
"""Fields that only people read. The others are columns, by which channels filter."""
PLOT_KEY = "plot_key"
"""The member of a notification's content that opens its plot (`plot_links.py`); no notice has it."""
LISTED = 10
"""The most launches that are named one by one."""


@dataclass(frozen=True)
class Link:
    """A link to another page than the notice's own."""

    label: str
    url: str


@dataclass(frozen=True)
class Ratios:
    """What a comparison measured launch by launch, which a channel may draw. Above `limit` is beyond the margin."""

    about: str
    values: tuple[float, ...]
    limit: float

    @property
    def legend(self) -> str:
        """What the parts of the picture mean."""
        return (
            f"{self.about}: a dot is a launch, slower ones are further right. "
            f"Grey line: equal. Red line: the limit, {self.limit:.3g}."
        )

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

    `kind` says what happened (`alert.opened`), `subject_id` to which object, and `state` the object's new state.
    `title` and `summary` have one line each, `text` explains. `url` is the event's page; it is relative if the server
    does not know its own address.
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
        """Return the values of the row that stores it. `ratios` only if there are any, because older servers, which an
        operator may go back to, refuse a field that they do not know."""
        values = asdict(self)
        content = {name: values.pop(name) for name in SHOWN}
        if self.ratios is None:
            del content["ratios"]
        return {**values, "content": content}


def notice_of(row: Notification) -> Notice:
    """Return a stored notice."""
    content = {name: row.content[name] for name in row.content if name != PLOT_KEY}
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
"""The field of a notice that each filter is about. A filter is a list of patterns; an empty one admits every value."""


def is_wanted(filters: Mapping[str, Sequence[str]], notice: Notice) -> bool:
    """Return whether a notice passes every filter of a channel. A notice without a value (one about a broken channel
    has no suite) passes the filter for that value."""
    return all(
        _passes(filters.get(name, ()), getattr(notice, field))
        for name, field in FILTERED.items()
    )


def _passes(patterns: Sequence[str], value: str | None) -> bool:
    if not patterns or value is None:
        return True
    return any(globs.matches(pattern, value) for pattern in patterns)
