"""`--server` of `paceline run` and `paceline ab`: keeps on a server what was measured and judged here.

The verdict and the exit status are those found here, whatever the server says or does. What cannot be sent now is complete in
its directory, and `paceline push` sends it later.
"""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from paceline.api import ApiClient
from paceline.commands.options import refuse_without_token
from paceline.commands.server_client import READ_TRIES, user_errors
from paceline.display import print_note
from paceline.errors import UserError
from paceline.recordings import TooLargeError, write_recording


class KeepingPlace(NamedTuple):
    """A server, and what a person says about the measurement: the target's name and the branch."""

    server: str
    token: str
    on: str | None
    branch: str | None


def choose_place(
    server: str | None, token: str | None, on: str | None, branch: str | None
) -> KeepingPlace | None:
    """Return where to keep a measurement; None without a server. Raises UserError, before anything is measured, for
    options that need each other."""
    if server is None:
        for name, value in (("on", on), ("branch", branch)):
            if value is not None:
                raise UserError(
                    f"--{name} says where a server keeps it, and no --server is given.",
                    "Give --server, or leave it out.",
                )
        return None
    return KeepingPlace(server, token or refuse_without_token(), on, branch)


def store_recording(
    directory: Path, place: KeepingPlace
) -> tuple[dict[str, Any], bool]:
    """Store the recording of a directory; return (what the server made of it, whether it was new). Raises UserError."""
    body = write_recording(directory, place.branch).import_body(place.on)
    with closing(ApiClient(place.server, place.token)) as api, user_errors():
        return api.store("/imports", body, READ_TRIES)


def keep(directory: Path, place: KeepingPlace | None) -> None:
    """Keep the measurement in a directory on a server, if one is named, and say what came of it."""
    if place is None:
        return
    try:
        stored, is_new = store_recording(directory, place)
    except UserError as error:
        print_note(f"Not kept on the server: {error.text}")
        if error.advice:
            print_note(error.advice)
        if isinstance(error, TooLargeError):
            return
        print_note("Nothing is lost. To send it later:")
        print_note(f"  {_push_later(directory, place)}")
        return
    for run in stored["runs"]:
        said = "Kept on the server" if is_new else "It is on the server already"
        print_note(f"{said}: {place.server}/runs/{run['run_id']}")


def _push_later(directory: Path, place: KeepingPlace) -> str:
    options = {"--server": place.server, "--on": place.on, "--branch": place.branch}
    given = [
        word
        for name, text in options.items()
        if text is not None
        for word in (name, text)
    ]
    return shlex.join(["paceline", "push", str(directory), *given])
