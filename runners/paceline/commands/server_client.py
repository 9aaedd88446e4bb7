"""The commands' client of a server. Its errors are for people: they name every field and what to do.

Nothing that the server decides is computed here (I17).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from paceline.api import ApiClient, ApiError, UnreachableError
from paceline.commands.options import NOBODY
from paceline.display import print_json, print_line, print_note, print_table
from paceline.errors import UserError

Item = dict[str, Any]
"""A JSON object as the server sends it."""
Column = str | Callable[[Item], object]
"""The content of a table's column: a field of the item, or a function of the item."""
Columns = Mapping[str, Column]
"""A table's columns by heading."""

READ_TRIES = 4
"""Tries of a request that only reads; a request that changes something is sent once."""
PAGE = 200
CHOICES = "Input should be '"
"""The beginning of the server's message about a value that is none of a field's choices, which it then lists."""
UNAUTHENTICATED = "Give a valid token with --token or PACELINE_TOKEN; docs/ci.md says how to make one."
ADVICE = {
    "unauthenticated": UNAUTHENTICATED,
    "forbidden": "The token needs the permission `project.read` to look, `alerts.triage` for alerts, "
    "`rules.write` for rules, `schedules.write` for schedules, `imports.write` for imports, `installation.admin` for targets.",
    "below_noise_floor": "Raise --min-effect at least to that, or exclude the series with a rule of its own.",
    "bulk_refused": "Leave those alerts out, or decide about them one at a time.",
}


def new_group(help_text: str) -> typer.Typer:
    """Return an empty group of commands."""
    return typer.Typer(help=help_text, no_args_is_help=True, rich_markup_mode=None)


class ServerClient:
    """Requests on behalf of a person; errors become `UserError`s."""

    def __init__(self, server: str, token: str) -> None:
        self._api = ApiClient(server, token)

    def close(self) -> None:
        """Close the connections."""
        self._api.close()

    def get(self, path: str, **query: object) -> Any:
        """Return the decoded response; query values that are None are left out."""
        params = {
            name: _query_text(value)
            for name, value in query.items()
            if value is not None
        }
        with user_errors():
            try:
                return self._api.call("GET", path, params=params, tries=READ_TRIES)
            except ApiError as error:
                _refuse_choice(error, params)
                raise

    def list_items(
        self,
        path: str,
        limit: int | None = None,
        *,
        advice: str | None = None,
        **query: object,
    ) -> list[Item]:
        """Return items of all pages of a list, at most `limit`. If that leaves some out, print a note with `advice`."""
        items: list[Item] = []
        cursor: str | None = None
        while limit is None or len(items) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(items))
            page = self.get(path, limit=size, cursor=cursor, **query)
            items += page["items"]
            cursor = page["next"]
            if cursor is None:
                return items
        if advice is not None:
            print_note(f"Only {limit} are listed: {advice}.")
        return items

    def send(self, method: str, path: str, body: object = None) -> Any:
        """Send one request that changes something."""
        with user_errors():
            return self._api.call(method, path, body)

    def account_id(self, person: str) -> str | None:
        """Return the id of an account by name or id; None for `none`. Raises UserError."""
        if person == NOBODY:
            return None
        return self._id_of("account", person, "/accounts", ", or none")

    def target_id(self, name: str) -> str:
        """Return the id of a target by name, serial or id. Raises UserError."""
        return self._id_of("target", name, "/targets")

    def find(self, path: str, name: str) -> Item | None:
        """Return the item of a list with that name or id, if there is one."""
        items = self.list_items(path)
        return next(
            (item for item in items if name in (item["id"], item["name"])), None
        )

    def find_or_fail(self, kind: str, name: str) -> Item:
        """Return the rule or schedule with that name or id. Raises UserError."""
        item = self.find(f"/{kind}s", name)
        if item is None:
            raise UserError(
                f"There is no {kind} {name!r}.", f"List them: paceline {kind}s list"
            )
        return item

    def _id_of(self, kind: str, name: str, path: str, hint: str = "") -> str:
        items = self.list_items(path)
        ids = [
            str(item["id"])
            for item in items
            if name in (item["id"], item["name"], item.get("serial"))
        ]
        if not ids:
            names = ", ".join(item["name"] for item in items) or "none"
            raise UserError(
                f"There is no {kind} {name!r}.", f"Use one of: {names}{hint}."
            )
        if len(ids) > 1:
            raise UserError(
                f"{len(ids)} {kind}s are called {name!r}.",
                f"Give an id: {', '.join(ids)}.",
            )
        return ids[0]


def _refuse_choice(error: ApiError, query: Mapping[str, str]) -> None:
    """Raise a UserError like that of `check_choice` for a value that is none of the server's choices."""
    for field, text in error.fields.items():
        name, choices = field.removeprefix("query."), text.removeprefix(CHOICES)
        if name in query and choices != text:
            raise UserError(
                f"Unknown {name} {query[name]!r}.",
                "Use " + choices.replace("'", "") + ".",
            ) from error


@contextmanager
def user_errors(advice: Mapping[str, str] = ADVICE) -> Iterator[None]:
    """Turn errors of the server and the network into UserErrors; `advice` by the server's error code."""
    try:
        yield
    except ApiError as error:
        # One wrong field is the detail already.
        lines = [f"{name}: {text}" for name, text in error.fields.items()]
        fields = "".join(
            f"\n  {line}" for line in lines if line.rstrip(".") not in error.detail
        )
        raise UserError(
            f"The server refused ({error.code}): {error.detail}{fields}",
            advice.get(error.code, ""),
        ) from error
    except UnreachableError as error:
        raise UserError(
            f"The server cannot be reached: {error}", "Check --server and the network."
        ) from error


def _query_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def show(item: Item, as_json: bool, sentence: str) -> None:
    """Print the response as JSON, or a sentence about it."""
    if as_json:
        print_json(item)
    else:
        print_line(sentence)


def show_table(items: Sequence[Item], columns: Columns, nothing: str = "") -> None:
    """Print one row per item, or the sentence `nothing` when there are none."""
    rows = [
        [
            item.get(column) if isinstance(column, str) else column(item)
            for column in columns.values()
        ]
        for item in items
    ]
    if rows:
        print_table(list(columns), rows)
    else:
        print_line(nothing)


def show_list(items: list[Item], as_json: bool, columns: Columns, nothing: str) -> None:
    """Print a list as JSON, or as a table."""
    if as_json:
        print_json(items)
    else:
        show_table(items, columns, nothing)


def short_time(stamp: str | None) -> str:
    """Return `2026-11-21 19:30` of an instant of the server."""
    return "" if stamp is None else stamp[:16].replace("T", " ")


def time_column(name: str) -> Column:
    """Return a column with the instant in field `name`."""
    return lambda item: short_time(item[name])
