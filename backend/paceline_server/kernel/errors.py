"""Defines the errors that clients get, as RFC 9457 problem details with a literal `code`.

Services and routes raise them, and `problems.py` turns them into responses. A published code keeps its meaning, while
its text may change.
"""

from __future__ import annotations

from collections.abc import Mapping


class ProblemError(Exception):
    """An error that becomes a response.

    The transaction is rolled back unless `keeps_changes`, for example to store the incident that a 409 reports.
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
    """Return 404 `not_found`; `what` is a noun of the glossary."""
    return ProblemError(404, "not_found", f"There is no {what} {key!r}.")


def invalid_request(detail: str, fields: dict[str, str] | None = None) -> ProblemError:
    """Return 400 `invalid_request`; `detail` says what was expected."""
    return ProblemError(400, "invalid_request", detail, fields=fields)


def conflict(detail: str, code: str = "conflict") -> ProblemError:
    """Return 409: the object's state does not allow this."""
    return ProblemError(409, code, detail)


def unauthenticated(detail: str = "Sign in, or send a valid token.") -> ProblemError:
    """Return 401 `unauthenticated`."""
    return ProblemError(
        401, "unauthenticated", detail, headers={"WWW-Authenticate": "Bearer"}
    )


def forbidden(detail: str, code: str = "forbidden") -> ProblemError:
    """Return 403: authenticated, but not allowed."""
    return ProblemError(403, code, detail)


def body_too_large(limit: int) -> ProblemError:
    """Return 413 `body_too_large`, with the limit in bytes and what to do about it on any route."""
    return ProblemError(
        413,
        "body_too_large",
        f"The body is larger than {limit} bytes. Send less at once: a file in several parts, a recording of fewer "
        "benchmarks, launches or rounds.",
    )
