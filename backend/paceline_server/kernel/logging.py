"""Configures structured logs: on stderr, key=value on a terminal and JSON elsewhere; or in a file, as JSON.

No secret is written: `redact` blanks the values of secret keys, and all text that looks like one of our tokens.
"""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
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
"""It takes linear time, because it begins at `://` and never backtracks (`++`). A pattern that began with the scheme
took 41 s for an address of 60 kB, during which the event loop was blocked."""
MAX_VALUE_CHARACTERS = 16 * 1024
"""Logged values are cut to this length, because clients choose some of them."""


def redact(_: Any, __: str, event: dict[str, Any]) -> dict[str, Any]:
    """Replace secrets at any depth. It is a structlog processor."""
    return {key: _redact_value(key, value) for key, value in event.items()}


def _redact_value(key: object, value: Any) -> Any:
    if value is not None and str(key).lower() in SECRET_KEYS:
        return "…"
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {name: _redact_value(name, member) for name, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redact_value(None, member) for member in value]
    return value


def redact_text(text: str) -> str:
    """Return `text` without our tokens and passwords in URLs, cut to the longest logged value."""
    if len(text) > MAX_VALUE_CHARACTERS:
        text = f"{text[:MAX_VALUE_CHARACTERS]}… ({len(text)} characters)"
    return URL_PASSWORD.sub(r"\1:…@", TOKEN.sub(r"\1_…", text))


class _StructlogHandler(logging.Handler):
    """Passes records of libraries (uvicorn, celery, sqlalchemy) to structlog, which redacts them."""

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


class _StderrLogger:
    """Writes lines to the current stderr. A closed pipe must not fail a request."""

    def __init__(self, *_: object) -> None:
        pass

    def msg(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    log = debug = info = warning = warn = error = critical = exception = fatal = msg


FILE_BYTES = 10 * 1024 * 1024
"""A log file of this size is replaced by a new one; one earlier file is kept."""


class _FileLogger:
    """Writes lines to a file, and a sentence about each warning and error to stderr."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = logging.handlers.RotatingFileHandler(
            path, maxBytes=FILE_BYTES, backupCount=1, encoding="utf-8", delay=True
        )
        self._stderr = _StderrLogger()

    def msg(self, line: str, _: str) -> None:
        self._file.handle(logging.makeLogRecord({"msg": line}))

    def warning(self, line: str, sentence: str) -> None:
        self.msg(line, sentence)
        self._stderr.msg(f"  {sentence} (all of it: {self._path})")

    log = debug = info = msg
    warn = error = critical = exception = fatal = warning


NOT_IN_SENTENCES = ("event", "level", "timestamp", "exception")


def _sentence(event: Mapping[str, Any]) -> str:
    """Return an event as a sentence, such as `warning: agent ended, again_in_s=1.0`."""
    values = [
        f"{key}={value}" for key, value in event.items() if key not in NOT_IN_SENTENCES
    ]
    cause = str(event.get("exception", "")).strip().splitlines()[-1:]
    name = str(event.get("event", "")).replace("_", " ")
    return f"{event.get('level', 'warning')}: {', '.join([name, *values, *cause])}"


def _line_and_sentence(
    logger: Any, name: str, event: dict[str, Any]
) -> tuple[tuple[str, str], dict[str, Any]]:
    sentence = _sentence(event)
    line = structlog.processors.JSONRenderer()(logger, name, event)
    return (str(line), sentence), {}


def configure(json: bool | None = None, *, file: Path | None = None) -> None:
    """Set up the logs of this process. `json` None: JSON unless stderr is a terminal. `file`: logs go there, so that
    they do not interrupt what a person reads on the terminal; warnings are shown on both."""
    as_json = (not sys.stderr.isatty()) if json is None else json
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact,
    ]
    factory: Callable[..., Any] = _StderrLogger
    last: Any = structlog.processors.LogfmtRenderer(
        key_order=["timestamp", "level", "event"], drop_missing=True
    )
    if file is not None:
        to_file = _FileLogger(file)
        factory, last = (lambda *_: to_file), _line_and_sentence
    elif as_json:
        last = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*shared, last],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=factory,
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [_StructlogHandler()]
    root.setLevel(logging.WARNING)
    logging.getLogger("uvicorn.access").disabled = True
