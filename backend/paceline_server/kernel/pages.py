"""Serves the built frontend on every path that no API route takes.

Files with a hash in their name are cached for ever; the page itself is revalidated each time. No file outside the
directory can be reached.
"""

from __future__ import annotations

import mimetypes
import os
from pathlib import Path

from fastapi import FastAPI
from fastapi.params import Depends
from fastapi.responses import FileResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from paceline_server.kernel.errors import ProblemError

FOR_EVER = "public, max-age=31536000, immutable"
HASHED = "assets"
"""The directory in which Vite puts a content hash into file names."""
MAX_PATH_LENGTH = 1024
"""Characters of a path; the time to resolve one grows with the square of its length."""
MAX_PART_BYTES = 255
"""Bytes of a file name. For longer ones, file systems raise an error other than "not found"."""
MISSING = "Paceline's API is running. Its pages are not built: run `make run`, or `npm run build` in frontend/.\n"


class _WholeFile(FileResponse):
    """A file that is always sent whole, because Starlette refuses an invalid range in plain text, not as a problem."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [
            header
            for header in scope["headers"]
            if header[0] not in (b"range", b"if-range")
        ]
        await super().__call__({**scope, "headers": headers}, receive, send)


def frontend_dir(configured: Path | None) -> Path | None:
    """Return the directory of the built pages, as configured or else `frontend/dist` of this clone; None if they are
    not built."""
    path = configured or Path(__file__).resolve().parents[3] / "frontend" / "dist"
    return path.resolve() if (path / "index.html").is_file() else None


def install(app: FastAPI, configured: Path | None, dependencies: list[Depends]) -> None:
    """Add the route of the pages, which must be the last."""
    mimetypes.add_type("text/javascript", ".js")
    mimetypes.add_type("font/woff2", ".woff2")

    @app.api_route(
        "/{path:path}",
        methods=["GET", "HEAD"],
        include_in_schema=False,
        dependencies=dependencies,
    )
    def page(path: str) -> Response:
        if len(path) > MAX_PATH_LENGTH or any(
            len(os.fsencode(part)) > MAX_PART_BYTES for part in path.split("/")
        ):
            raise ProblemError(
                404, "not_found", "No page and no file has an address this long."
            )
        root = frontend_dir(configured)
        if root is None:
            return PlainTextResponse(
                MISSING, status_code=404, headers={"Cache-Control": "no-store"}
            )
        file = _find_file(root, path)
        if file is not None:
            hashed = file.parent.name == HASHED
            return _WholeFile(
                file, headers={"Cache-Control": FOR_EVER if hashed else "no-cache"}
            )
        if path.startswith(f"{HASHED}/") or "." in path.rsplit("/", 1)[-1]:
            raise ProblemError(404, "not_found", f"There is no file /{path}.")
        return _WholeFile(root / "index.html", headers={"Cache-Control": "no-cache"})


def _find_file(root: Path, path: str) -> Path | None:
    """Return the file at `path` below `root`, if there is one."""
    if not path:
        return None
    try:
        file = (root / path).resolve()
        return file if file.is_relative_to(root) and file.is_file() else None
    except ValueError:  # The path contains NUL.
        return None
