"""Structured logs: key=value on a terminal, JSON elsewhere. Invariant: no secret is ever written.

Place: configured once per process by its entry point. `redact` blanks values of keys that carry secrets and
anything that looks like one of our tokens, whatever the key.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sys
from collections.abc import Mapping
from typing import Any

import structlog

SECRET_KEYS = frozenset(
    {
        "authorization",
        "cookie",
        "password",
        "secret",
        "token",
        "credential",
        "lease_token",
    }
)
TOKEN = re.compile(r"\b(pl[a-z]{1,3})_[A-Za-z0-9_-]{20,}")
URL_PASSWORD = re.compile(r"(://[^:/@\s]*+):[^@/\s]++@")
"""Begins at `://` and gives nothing back (`++`), so that it looks at each character of a text once or twice.
With the scheme in front it began anew at every letter: 41 s for an address of 60 kB, in the event loop."""
LONGEST = 16 * 1024
"""Characters of one value in a log line. Strangers choose what some of them hold."""


def redact(_: Any, __: str, event: dict[str, Any]) -> dict[str, Any]:
    """A structlog processor: replace secrets, however deep."""
    return {key: _redacted(key, value) for key, value in event.items()}


def _redacted(key: object, value: Any) -> Any:
    if value is not None and str(key).lower() in SECRET_KEYS:
        return "…"
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {inner: _redacted(inner, one) for inner, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redacted(None, one) for one in value]
    return value


def hide(text: str) -> str:
    """`text` without our tokens and without passwords in URLs, and no longer than a line of a log may be."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… ({len(text)} characters)"
    return URL_PASSWORD.sub(r"\1:…@", TOKEN.sub(r"\1_…", text))


class _Bridge(logging.Handler):
    """Sends records of libraries (uvicorn, celery, sqlalchemy) through structlog, redacted alike."""

    def emit(self, record: logging.LogRecord) -> None:
        level = record.levelname.lower()
        logger = structlog.get_logger(record.name)
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            logger.log(record.levelno, text, exc_info=record.exc_info)
        else:
            getattr(logger, level if level != "critical" else "error", logger.info)(
                text
            )


class _Lines:
    """Writes a line to the current stderr. A reader that went away (closed pipe) must not fail a request."""

    def __init__(self, *_: object) -> None:
        pass

    def msg(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    log = debug = info = warning = warn = error = critical = exception = fatal = msg


def configure(json: bool | None = None, level: int = logging.INFO) -> None:
    """Set up this process's logs on stderr. `json` None: by whether stderr is a terminal."""
    as_json = (not sys.stderr.isatty()) if json is None else json
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact,
    ]
    last: Any = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.processors.LogfmtRenderer(
            key_order=["timestamp", "level", "event"], drop_missing=True
        )
    )
    structlog.configure(
        processors=[*shared, last],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=_Lines,
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [_Bridge()]
    root.setLevel(logging.WARNING)
    logging.getLogger("uvicorn.access").disabled = True
