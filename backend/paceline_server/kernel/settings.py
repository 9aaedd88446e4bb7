"""Reads the server's settings from `PACELINE_*` environment variables.

No secret has a default. Impossible combinations are refused at start, with advice.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

PREFIX = "PACELINE_"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]")
_NO_SMTP_LOGIN = re.compile(r"[^ -~]")
_REFUSED_CHARACTERS = {
    "database_url": _CONTROL,
    "redis_url": _CONTROL,
    "public_url": _SPACE,
    "webhook_url": _SPACE,
    "smtp_host": _SPACE,
    "smtp_user": _NO_SMTP_LOGIN,
    "smtp_password": _NO_SMTP_LOGIN,
}
"""Characters that a setting cannot hold, by its name. A path in a database URL may have spaces; logins are ASCII."""


class SettingsError(Exception):
    """A setting is invalid; the text names the variable and says what to do."""


class Settings(BaseModel):
    """The settings of a process. Without `redis_url` it is embedded: broker and live updates are in the process."""

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
    """How long an A/B run may wait for an agent before history decides without it (stats/README.md §4.5)."""
    bisect_budget: int = Field(default=6, ge=1, le=100)
    """A/B jobs of a bisection: five find the commit among 32, and the sixth repeats an inconclusive step."""
    sweep_s: float = Field(default=1.0, gt=0)
    session_days: float = Field(default=14.0, gt=0)
    """A browser session ends after this time even if it is used."""
    session_idle_hours: float = Field(default=72.0, gt=0)
    """A browser session ends after this time without a request: a weekend, so that people stay signed in on Monday."""
    invitation_days: float = Field(default=7.0, gt=0)
    sign_in_link_minutes: float = Field(default=30.0, gt=0)
    enrolment_code_minutes: float = Field(default=60.0, gt=0)
    max_body_bytes: int = Field(default=8 * 1024 * 1024, ge=1024)
    """Limits a request body as sent; ingest limits the inflated size itself."""
    pressure_limit_percent: float | None = Field(default=None, gt=0, le=100)
    """Steal time or CPU pressure above this makes a job void; None: the limit of stats/README.md §1. It should be
    raised only for targets that are always shared; the value is stored with every decision."""
    drift_limit_percent: float | None = Field(default=None, gt=0)
    """A calibration kernel that drifts more than this makes a job void; the rest is as above."""
    webhook_url: str | None = None
    """The URL of a webhook channel that every project gets, for operators; None: no such channel."""
    webhook_timeout_s: float = Field(default=5.0, gt=0, le=25)
    """The time limit of a whole request to a receiver; it must be less than `outbox.CLAIM_S`."""
    channel_networks: str = ""
    """Comma-separated private networks or addresses that channels may reach, e.g. `10.0.0.0/8,127.0.0.1`. Without it,
    nobody can make this server send requests into its own network."""
    slack_pictures: bool = False
    """Whether messages to Slack link to pictures of alerts, which Slack's servers fetch from `public_url`."""
    smtp_host: str | None = None
    """The mail server of e-mail channels; None: there are no e-mail channels."""
    smtp_port: int = Field(default=587, ge=1, le=65535)
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    smtp_user: str | None = None
    smtp_password: str | None = None
    smtp_from: str = ""
    """The address that messages come from."""
    trusted_proxies: str = ""
    """Comma-separated addresses or networks of proxies whose `X-Forwarded-For` and `-Proto` are trusted. Without it,
    everybody behind a proxy counts as one place."""
    log_json: bool | None = None
    """None: key=value on a terminal, JSON elsewhere."""

    @model_validator(mode="after")
    def _refuse_impossible(self) -> Self:
        if self.redis_url is None and self.processes > 1:
            raise ValueError(
                "more than one API process needs Redis: live updates and background work are shared "
                "through it. "
                "Set PACELINE_REDIS_URL=redis://…, or use --processes 1"
            )
        self._refuse_characters()
        if self.redis_url is not None and not self.redis_url.startswith(
            ("redis://", "rediss://", "unix://")
        ):
            raise ValueError(
                "PACELINE_REDIS_URL must start with redis://, rediss:// or unix://"
            )
        if self.smtp_host is not None and "@" not in self.smtp_from:
            raise ValueError(
                "PACELINE_SMTP_FROM must be the address that messages come from, e.g. paceline@example.org"
            )
        for name, networks in (
            ("TRUSTED_PROXIES", self.proxies),
            ("CHANNEL_NETWORKS", _split_list(self.channel_networks)),
        ):
            for network in networks:
                try:
                    ipaddress.ip_network(network)
                except ValueError as error:
                    raise ValueError(
                        f"{PREFIX}{name}: {error}; e.g. 10.0.0.7,172.16.0.0/12"
                    ) from None
        for name, address in (
            ("WEBHOOK_URL", self.webhook_url),
            ("PUBLIC_URL", self.public_url),
        ):
            if address is not None and not _is_web_address(address):
                raise ValueError(f"{PREFIX}{name} must be an http or https URL")
        if self.slack_pictures and urlsplit(self.public_url or "").scheme != "https":
            raise ValueError(
                "PACELINE_SLACK_PICTURES needs PACELINE_PUBLIC_URL with https, from which Slack's servers fetch pictures"
            )
        return self

    def _refuse_characters(self) -> None:
        """Raise ValueError for characters that a setting cannot hold. It names only their place, because many settings
        are secrets."""
        for name, refused in _REFUSED_CHARACTERS.items():
            text = getattr(self, name) or ""
            wrong = refused.search(text)
            if wrong is not None:
                raise ValueError(
                    f"{PREFIX}{name.upper()} has a character that it cannot have, at place {wrong.start() + 1} of "
                    f"{len(text)}. Copy it once more, without quotation marks or line breaks in it"
                )

    @property
    def proxies(self) -> list[str]:
        """`trusted_proxies` as a list."""
        return _split_list(self.trusted_proxies)

    @property
    def reachable_networks(
        self,
    ) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """`channel_networks` as networks."""
        return tuple(map(ipaddress.ip_network, _split_list(self.channel_networks)))

    @property
    def embedded(self) -> bool:
        """True if broker and live updates are in this process."""
        return self.redis_url is None

    @property
    def offline_after_s(self) -> float:
        """An agent is offline once three heartbeats are missing."""
        return 3 * self.heartbeat_s

    @property
    def resolved_database_url(self) -> str:
        """The URL for SQLAlchemy, with psycopg 3 for PostgreSQL; a file in the data directory if none is set."""
        url = self.database_url
        if not url:
            return f"sqlite:///{(self.data_dir / 'paceline.sqlite').absolute()}"
        for plain in ("postgresql://", "postgres://"):
            if url.startswith(plain):
                return "postgresql+psycopg://" + url.removeprefix(plain)
        return url


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_port = parts.port != 0
    except ValueError:  # The port or an IPv6 address is invalid.
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and has_port


def _split_list(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def load_settings(
    environ: Mapping[str, str] | None = None, **overrides: Any
) -> Settings:
    """Return the settings from `PACELINE_*` and from overrides, which win unless they are None. White space around a
    text is removed. Raises `SettingsError`."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    for name in Settings.model_fields:
        raw = environ.get(PREFIX + name.upper(), "").strip()
        if raw:
            values[name] = raw
    values.update(
        {
            name: value.strip() if isinstance(value, str) else value
            for name, value in overrides.items()
            if value is not None
        }
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


def set_current(settings: Settings) -> None:
    """Set the settings of this process. Entry points and tests call it."""
    _current[:] = [settings]


def current() -> Settings:
    """Return the settings of this process; they are read from the environment if none were set."""
    if not _current:
        set_current(load_settings())
    return _current[0]
