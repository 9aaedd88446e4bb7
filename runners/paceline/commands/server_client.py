"""What the groups of commands share: where the server is, how its answers are shown, what its refusals mean.

Place in the journey: between a group of commands and `api`. Invariants: results on standard output, as the
server's own JSON with `--json`; a refusal names its code, every field it is about, and what to do; nothing is
computed here that the server says (I17).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeVar

import typer
from rich.table import Table

from paceline.api import ApiClient, ApiError, UnreachableError
from paceline.display import terminal
from paceline.errors import UserError

Server = Annotated[
    str, typer.Option(envvar="PACELINE_SERVER", help="The server's address.")
]
Token = Annotated[str, typer.Option(envvar="PACELINE_TOKEN", help="An API token.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print the server's answer as JSON.")
]
Note = Annotated[str | None, typer.Option(help="A remark for the alert's history.")]

Answer = TypeVar("Answer")
TRIES = 4
"""For requests that only read; what changes something is asked once."""
PAGE = 200
NOBODY = "none"
ADVICE = {
    "unauthenticated": "Give a valid token with --token or PACELINE_TOKEN.",
    "forbidden": "The token needs the scope `read` to look, `alerts:write` for alerts and rules, `ingest` "
    "for schedules, `admin` for targets.",
    "below_noise_floor": "Give at least that --min-effect, or leave that series to a rule of its own.",
    "bulk_refused": "Leave those alerts out, or decide about them one by one.",
}

out = terminal()


def new_group(about: str) -> typer.Typer:
    """An empty group of commands."""
    return typer.Typer(help=about, no_args_is_help=True, rich_markup_mode=None)


class ServerClient:
    """One server, asked on behalf of a person; refusals become `UserError`s."""

    def __init__(self, server: str, token: str) -> None:
        self._api = ApiClient(server, token)

    def get(self, path: str, **query: object) -> Any:
        """The decoded answer; query values that are None are left out."""
        params = {
            name: _text(value) for name, value in query.items() if value is not None
        }
        return _call(lambda: self._api.call("GET", path, params=params, tries=TRIES))

    def pages(
        self, path: str, limit: int | None = None, **query: object
    ) -> list[dict[str, Any]]:
        """Items of a list, all pages of it, at most `limit`."""
        items: list[dict[str, Any]] = []
        cursor: str | None = None
        while limit is None or len(items) < limit:
            left = PAGE if limit is None else min(PAGE, limit - len(items))
            page = self.get(path, limit=left, cursor=cursor, **query)
            items += page["items"]
            cursor = page["next"]
            if cursor is None:
                break
        return items

    def send(self, method: str, path: str, body: object = None) -> Any:
        """One request that changes something."""
        return _call(lambda: self._api.call(method, path, body))

    def account(self, person: str) -> str | None:
        """The id of an account by name or id; None for `none`."""
        if person == NOBODY:
            return None
        people = self.pages("/accounts")
        found = [one["id"] for one in people if person in (one["id"], one["name"])]
        if not found:
            names = ", ".join(one["name"] for one in people) or "nobody"
            raise UserError(
                f"There is no account {person!r}.", f"There are: {names}; or say none."
            )
        return str(found[0])

    def known_rule(self, name: str) -> dict[str, Any] | None:
        """A stored rule by name or id, if there is one."""
        return next(
            (one for one in self.pages("/rules") if name in (one["id"], one["name"])),
            None,
        )

    def rule(self, name: str) -> dict[str, Any]:
        """The same; that there is none is a mistake."""
        found = self.known_rule(name)
        if found is None:
            raise UserError(f"There is no rule {name!r}.", "See paceline rules list.")
        return found

    def target(self, name: str) -> str:
        """The id of a target by name or id."""
        targets = self.pages("/targets")
        found = [one["id"] for one in targets if name in (one["id"], one["name"])]
        if not found:
            names = ", ".join(one["name"] for one in targets) or "none"
            raise UserError(f"There is no target {name!r}.", f"There are: {names}.")
        if len(found) > 1:
            raise UserError(
                f"{len(found)} targets are called {name!r}.",
                f"Give an id: {', '.join(found)}.",
            )
        return str(found[0])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _call(ask: Callable[[], Answer]) -> Answer:
    try:
        return ask()
    except ApiError as error:
        where = "".join(f"\n  {name}: {text}" for name, text in error.fields.items())
        text = f"The server refused ({error.code}): {error.detail}{where}"
        raise UserError(text, ADVICE.get(error.code, "")) from error
    except UnreachableError as error:
        raise UserError(
            f"The server cannot be reached: {error}", "Check --server and the network."
        ) from error


def print_json(answer: object) -> None:
    """Print an answer as it came."""
    sys.stdout.write(json.dumps(answer, indent=1, ensure_ascii=False) + "\n")


def print_line(text: str) -> None:
    """Print a line for a person, as it is."""
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], nothing: str
) -> None:
    """Print rows, or a sentence when there are none."""
    if not rows:
        print_line(nothing)
        return
    shown = Table(*columns)
    for row in rows:
        shown.add_row(*("" if value is None else str(value) for value in row))
    out.print(shown, soft_wrap=True)


def short_time(stamp: str | None) -> str:
    """`2026-11-21 19:30` of an instant of the server."""
    return "" if stamp is None else stamp[:16].replace("T", " ")


def parse_time(text: str) -> str | None:
    """An instant of `2026-12-01` (its last second, UTC), an ISO instant, `+3d` or `+12h`; None for `none`."""
    if text == NOBODY:
        return None
    try:
        if text.startswith("+") and text[-1] in "dh":
            hours = float(text[1:-1]) * (24 if text[-1] == "d" else 1)
            return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise UserError(
            f"{text!r} is no date.", "Say 2026-12-01, +3d, +12h or none."
        ) from None
    if len(text) == len("2026-12-01"):
        found = found.replace(hour=23, minute=59, second=59)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()


def parse_share(text: str) -> float:
    """`0.03` of "3%", "3 %" or "0.03"."""
    number = text.removesuffix("%").strip()
    try:
        value = float(number) / 100 if text.endswith("%") else float(number)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 10.0:
        raise UserError(f"{text!r} is no effect.", "Say 3% or 0.03.")
    return value
