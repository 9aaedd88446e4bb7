"""Every error a client may meet, as RFC 9457 problem details with a literal `code`.

Place: raised by services and routes, turned into an answer in `problems.py`. Invariant: a code, once
published, keeps its meaning; text may change. Queries raise nothing of HTTP: they return None.
"""

from __future__ import annotations

from collections.abc import Mapping


class ProblemError(Exception):
    """An error with an answer.

    `keeps_changes`: commit the session although the request fails, e.g. to store the incident that a 409
    reports. Everything else rolls back.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        title: str | None = None,
        fields: dict[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        keeps_changes: bool = False,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.title = title or code.replace("_", " ").capitalize()
        self.fields = fields
        self.headers = dict(headers or {})
        self.keeps_changes = keeps_changes


def not_found(what: str, key: str) -> ProblemError:
    """404 `not_found`: `what` is the glossary's noun."""
    return ProblemError(404, "not_found", f"There is no {what} {key!r}.")


def invalid_request(detail: str, fields: dict[str, str] | None = None) -> ProblemError:
    """400 `invalid_request`: the text says what was expected."""
    return ProblemError(400, "invalid_request", detail, fields=fields)


def conflict(detail: str, code: str = "conflict") -> ProblemError:
    """409: the thing is in a state that does not allow this."""
    return ProblemError(409, code, detail)


def unauthenticated(detail: str = "Sign in, or send a valid token.") -> ProblemError:
    """401 `unauthenticated`."""
    return ProblemError(
        401, "unauthenticated", detail, headers={"WWW-Authenticate": "Bearer"}
    )


def forbidden(detail: str, code: str = "forbidden") -> ProblemError:
    """403: known, but not allowed."""
    return ProblemError(403, code, detail)


def body_too_large(limit: int) -> ProblemError:
    """413 `body_too_large`, with the limit in bytes."""
    return ProblemError(
        413,
        "body_too_large",
        f"The body is larger than {limit} bytes; send it in parts.",
    )
