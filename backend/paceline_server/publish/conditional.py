"""Answers GET requests of programs that poll, with an ETag, and with 304 if nothing has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from fastapi import Request, Response


def answer(
    request: Request,
    state: str,
    render: Callable[[], str],
    media_type: str,
    max_age_s: int,
) -> Response:
    """Return the document that `render` makes; 304 if the caller has the document of the same `state`. Shared caches
    may store it if anybody may read it."""
    etag = f'"{hashlib.sha256(state.encode()).hexdigest()[:32]}"'
    is_public = request.state.principal.via == "nothing"
    headers = {
        "ETag": etag,
        "Cache-Control": f"{'public' if is_public else 'private'}, max-age={max_age_s}",
        "Vary": "Authorization, Cookie",
    }
    known_etags = request.headers.get("if-none-match", "")
    if known_etags == "*" or etag in (
        part.strip().removeprefix("W/") for part in known_etags.split(",")
    ):
        return Response(status_code=304, headers=headers)
    return Response(render(), media_type=media_type, headers=headers)
