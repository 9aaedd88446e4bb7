"""Settings, read once from `PACELINE_*` environment variables.

Place: below everything. Invariant: no secret has a default, and an impossible combination is refused at start
with what to do about it. Holds no connections (see `store/session.py`, `store/hints.py`).
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

PREFIX = "PACELINE_"


class SettingsError(Exception):
    """The environment asks for something impossible; the text says which variable and what to do."""


class Settings(BaseModel):
    """One process's settings. `redis_url` absent means the embedded shape (DESIGN §5)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database_url: str = ""
    redis_url: str | None = None
    data_dir: Path = Path("var")
    public_url: str | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8321, ge=0, le=65535)
    processes: int = Field(default=1, ge=1, le=64)
    frontend_dir: Path | None = None

    lease_s: float = Field(default=30.0, gt=0)
    heartbeat_s: float = Field(default=10.0, gt=0)
    confirm_cooldown_s: float = Field(default=30.0, ge=0)
    confirm_patience_s: float = Field(default=6 * 3600.0, gt=0)
    """How long an A/B run may wait for an agent before history decides without it (STATISTICS §4.5)."""
    bisect_budget: int = Field(default=6, ge=1, le=100)
    """A/B jobs of one bisection: five find one commit among 32, the sixth repeats one that could not tell."""
    sweep_s: float = Field(default=1.0, gt=0)
    session_days: float = Field(default=14.0, gt=0)
    sign_in_link_minutes: float = Field(default=30.0, gt=0)
    enrolment_code_minutes: float = Field(default=60.0, gt=0)
    max_body_bytes: int = Field(default=8 * 1024 * 1024, ge=1024)
    """Largest request body on the wire; ingest bounds the inflated size itself."""
    pressure_limit_percent: float | None = Field(default=None, gt=0, le=100)
    """How much steal or CPU pressure voids a job; None: the limit of STATISTICS §1. Raise it only for targets
    that are always shared; the value is stored with every decision."""
    drift_limit_percent: float | None = Field(default=None, gt=0)
    """How far the calibration kernel may drift from before a job to after it; None and when to raise it: as
    above."""
    webhook_url: str | None = None
    """Where confirmed alerts are posted as JSON; None: they are only logged and shown."""
    webhook_timeout_s: float = Field(default=5.0, gt=0, le=25)
    """A worker waits no longer for the receiver, and for less than a row's claim; the outbox tries again."""
    trusted_proxies: str = ""
    """Addresses or networks (comma-separated) of the proxies in front, whose `X-Forwarded-For` and `-Proto`
    are believed; empty: nobody's. Without it everybody behind a proxy counts as one place."""
    log_json: bool | None = None
    """None: key=value on a terminal, JSON elsewhere."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.redis_url is None and self.processes > 1:
            raise ValueError(
                "more than one API process needs Redis: live updates and background work are shared "
                "through it. "
                "Set PACELINE_REDIS_URL=redis://…, or use --processes 1"
            )
        if self.redis_url is not None and not self.redis_url.startswith(
            ("redis://", "rediss://", "unix://")
        ):
            raise ValueError(
                "PACELINE_REDIS_URL must start with redis://, rediss:// or unix://"
            )
        for proxy in self.proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError as error:
                raise ValueError(
                    f"PACELINE_TRUSTED_PROXIES: {error}; e.g. 10.0.0.7,172.16.0.0/12"
                ) from None
        return self

    @property
    def proxies(self) -> list[str]:
        """`trusted_proxies`, one by one."""
        return [one.strip() for one in self.trusted_proxies.split(",") if one.strip()]

    @property
    def embedded(self) -> bool:
        """True when broker and live fan-out live in this process."""
        return self.redis_url is None

    @property
    def offline_after_s(self) -> float:
        """An agent unheard of for three heartbeats is offline."""
        return 3 * self.heartbeat_s

    @property
    def resolved_database_url(self) -> str:
        """The SQLAlchemy URL: psycopg 3 for PostgreSQL; a file in the data directory when nothing is set."""
        url = self.database_url
        if not url:
            return f"sqlite:///{(self.data_dir / 'paceline.sqlite').absolute()}"
        for plain in ("postgresql://", "postgres://"):
            if url.startswith(plain):
                return "postgresql+psycopg://" + url.removeprefix(plain)
        return url


def load_settings(
    environ: Mapping[str, str] | None = None, **overrides: Any
) -> Settings:
    """Settings from `PACELINE_*` and overrides (overrides win; None means unset).

    Raises `SettingsError` naming each variable that is wrong.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    for name in Settings.model_fields:
        raw = environ.get(PREFIX + name.upper())
        if raw is not None and raw != "":
            values[name] = raw
    values.update(
        {name: value for name, value in overrides.items() if value is not None}
    )
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        lines = []
        for fault in error.errors():
            where = ".".join(str(part) for part in fault["loc"])
            text = str(fault["msg"]).removeprefix("Value error, ")
            lines.append(f"{PREFIX}{where.upper()}: {text}" if where else text)
        raise SettingsError("; ".join(lines)) from None


_current: list[Settings] = []


def use(settings: Settings) -> None:
    """Make `settings` the process's (entry points and tests; the newest call wins)."""
    _current[:] = [settings]


def current() -> Settings:
    """The process's settings; read from the environment when no entry point said otherwise."""
    if not _current:
        use(load_settings())
    return _current[0]
