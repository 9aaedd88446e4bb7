"""Turns every failure into `application/problem+json`: ours, FastAPI's, Starlette's and the unexpected.

Invariant: no answer with status ≥ 400 has another shape, and an unexpected exception answers 500 `internal`
without its text (which goes to the log, with the request id).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError, OperationalError
from starlette.exceptions import HTTPException

from paceline_server.kernel.errors import ProblemError
from paceline_server.kernel.wire import Problem

log = structlog.get_logger("paceline.problems")

CODES = {
    400: "invalid_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
    415: "unsupported_media_type",
    503: "busy",
}
TYPE_PREFIX = "urn:paceline:problem:"


def answer(problem: ProblemError) -> JSONResponse:
    """The response of one problem."""
    body = Problem(
        type=TYPE_PREFIX + problem.code,
        title=problem.title,
        status=problem.status,
        code=problem.code,
        detail=problem.detail,
        fields=problem.fields,
    )
    return JSONResponse(
        body.model_dump(exclude_none=True),
        status_code=problem.status,
        media_type="application/problem+json",
        headers={"Cache-Control": "no-store", **problem.headers},
    )


def _plain(text: object, limit: int = 300) -> str:
    """Text that is safe to send: bounded, and without surrogates that UTF-8 cannot carry."""
    return str(text)[:limit].encode("utf-8", "replace").decode()


def _fields(faults: list[Any]) -> dict[str, str]:
    """`{"body.name": "…"}` of pydantic's error list, at most 20, without the refused values."""
    fields = {}
    for fault in faults[:20]:
        where = ".".join(_plain(part, 60) for part in fault.get("loc", ())) or "body"
        fields[where] = _plain(fault.get("msg", "invalid"))
    return fields


def _of_validation(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this type only
    fields = _fields(list(error.errors()))
    where, text = next(iter(fields.items()), ("body", "invalid"))
    return answer(
        ProblemError(422, "invalid_request", f"{where}: {text}", fields=fields)
    )


def _of_starlette(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this type only
    code = CODES.get(error.status_code, "http_error")
    headers: Mapping[str, str] = error.headers or {}
    return answer(
        ProblemError(error.status_code, code, _plain(error.detail), headers=headers)
    )


def _of_ours(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProblemError)  # noqa: S101 - registered for this type only
    return answer(error)


def _of_value(_: Request, error: Exception) -> JSONResponse:
    """The database refused a value no schema forbids (NUL, a lone surrogate, 2^63): the client's fault."""
    log.warning("value_refused_by_database", error=type(error).__name__)
    return answer(
        ProblemError(
            422,
            "invalid_request",
            "A value cannot be stored: NUL, invalid Unicode or too large a number.",
        )
    )


def _of_database(request: Request, error: Exception) -> JSONResponse:
    """The database cannot be reached or is locked for too long: worth a retry."""
    log.error(
        "database_unavailable", path=request.scope["path"][:200], error=str(error)[:300]
    )
    problem = ProblemError(
        503,
        "unavailable",
        "The database is not answering; try again.",
        headers={"Retry-After": "1"},
    )
    return answer(problem)


def internal() -> JSONResponse:
    """The answer to the unexpected."""
    return answer(
        ProblemError(
            500, "internal", "Something went wrong here; the log has the request id."
        )
    )


Handler = Callable[[Request, Exception], JSONResponse]

HANDLERS: Mapping[type[Exception], Handler] = {
    ProblemError: _of_ours,
    RequestValidationError: _of_validation,
    HTTPException: _of_starlette,
    DataError: _of_value,
    UnicodeEncodeError: _of_value,
    OverflowError: _of_value,
    OperationalError: _of_database,
}


def install(app: FastAPI) -> None:
    """Register every handler. Unexpected exceptions are caught by `Requests` (it knows the request id)."""
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)


def of(request: Request, error: Exception) -> JSONResponse | None:
    """The answer to an error in front of the routes; None for one that nobody expects."""
    handler = next(
        (handler for kind, handler in HANDLERS.items() if isinstance(error, kind)), None
    )
    return None if handler is None else handler(request, error)
