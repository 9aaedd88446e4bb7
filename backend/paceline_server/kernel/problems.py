"""Turns every error into `application/problem+json`: ours, FastAPI's, Starlette's and unexpected exceptions.

No response with a status of 400 or more has another shape. The text of an unexpected exception goes only to the log,
with the request id.
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


def to_response(problem: ProblemError) -> JSONResponse:
    """Return the response for a problem."""
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
    """Return text that is safe to send: cut to `limit`, and without surrogates, which UTF-8 cannot encode."""
    return str(text)[:limit].encode("utf-8", "replace").decode()


def _fields(faults: list[Any]) -> dict[str, str]:
    """Return `{"body.name": "…"}` for the first 20 of pydantic's errors, without the refused values."""
    fields = {}
    for fault in faults[:20]:
        where = ".".join(_plain(part, 60) for part in fault.get("loc", ())) or "body"
        fields[where] = _plain(fault.get("msg", "invalid"))
    return fields


def _respond_to_validation(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this type only
    fields = _fields(list(error.errors()))
    where, text = next(iter(fields.items()), ("body", "invalid"))
    return to_response(
        ProblemError(422, "invalid_request", f"{where}: {text}", fields=fields)
    )


def _respond_to_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this type only
    code = CODES.get(error.status_code, "http_error")
    headers: Mapping[str, str] = error.headers or {}
    return to_response(
        ProblemError(error.status_code, code, _plain(error.detail), headers=headers)
    )


def _respond_to_problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProblemError)  # noqa: S101 - registered for this type only
    return to_response(error)


def _respond_to_refused_value(_: Request, error: Exception) -> JSONResponse:
    """Return 422 for a value that no schema forbids and the database refused (NUL, a lone surrogate, 2^63)."""
    log.warning("value_refused_by_database", error=type(error).__name__)
    return to_response(
        ProblemError(
            422,
            "invalid_request",
            "A value cannot be stored: NUL, invalid Unicode or too large a number.",
        )
    )


def _respond_to_database(request: Request, error: Exception) -> JSONResponse:
    """Return 503 because the database cannot be reached or was locked for too long."""
    log.error(
        "database_unavailable", path=request.scope["path"][:200], error=str(error)[:300]
    )
    problem = ProblemError(
        503,
        "unavailable",
        "The database is not answering; try again.",
        headers={"Retry-After": "1"},
    )
    return to_response(problem)


def internal_error() -> JSONResponse:
    """Return the response to an unexpected exception."""
    return to_response(
        ProblemError(
            500, "internal", "Something went wrong here; the log has the request id."
        )
    )


Handler = Callable[[Request, Exception], JSONResponse]

HANDLERS: Mapping[type[Exception], Handler] = {
    ProblemError: _respond_to_problem,
    RequestValidationError: _respond_to_validation,
    HTTPException: _respond_to_http,
    DataError: _respond_to_refused_value,
    UnicodeEncodeError: _respond_to_refused_value,
    OverflowError: _respond_to_refused_value,
    OperationalError: _respond_to_database,
}


def install(app: FastAPI) -> None:
    """Register every handler. Unexpected exceptions are left to `Requests`, which knows the request id."""
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)


def respond_to(request: Request, error: Exception) -> JSONResponse | None:
    """Return the response to an error that was raised before any route; None for an unexpected exception."""
    handler = next(
        (handler for kind, handler in HANDLERS.items() if isinstance(error, kind)), None
    )
    return None if handler is None else handler(request, error)
