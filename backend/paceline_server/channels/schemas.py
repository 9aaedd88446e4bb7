"""Wire shapes of channels and their deliveries."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from paceline_server.accounts.schemas import AccountOut
from paceline_server.channels.chat_messages import check_template
from paceline_server.channels.notices import Severity
from paceline_server.kernel.wire import Request, Response

ChannelKind = Literal["webhook", "slack", "chat", "email"]
ChannelState = Literal["healthy", "failing", "broken"]
DeliveryState = Literal[
    "pending", "collected", "digested", "delivered", "failed", "skipped"
]
Pattern = Annotated[str, Field(min_length=1, max_length=200)]
Patterns = Annotated[list[Pattern], Field(max_length=50)]

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)
]


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"not a URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("expected an http or https URL, e.g. https://example.org/hook")
    if parts.username is not None or parts.fragment:
        raise ValueError("a URL without user, password and fragment is expected")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("a URL consists of printable ASCII characters")
    return url


ReceiverUrl = Annotated[
    str, StringConstraints(max_length=2000), AfterValidator(_check_url)
]


TimeOfDay = Annotated[
    str,
    StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$"),
]
"""A time such as 08:30, in the channel's time zone."""


def _check_zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError(
            "expected a time zone of the IANA database, e.g. Europe/Berlin"
        )
    return name


TimeZone = Annotated[
    str, StringConstraints(max_length=100), AfterValidator(_check_zone)
]


Recipient = Annotated[
    str,
    StringConstraints(
        max_length=320, pattern=r"^[^@\s,;<>\"()\[\]:\\]+@[A-Za-z0-9.-]+$"
    ),
]
Recipients = Annotated[list[Recipient], Field(min_length=1, max_length=50)]


Template = Annotated[dict[str, Any], AfterValidator(check_template)]
"""The JSON message of a chat, with fields such as {title} in its texts."""


class FiltersIn(Request):
    """The events that a channel gets: every list that is not empty must have a pattern that matches the event. `*`
    stands for any characters. `targets` are names."""

    severities: Annotated[list[Severity], Field(max_length=3)] = Field(
        default_factory=list
    )
    kinds: Patterns = Field(default_factory=list)
    states: Patterns = Field(default_factory=list)
    suites: Patterns = Field(default_factory=list)
    targets: Patterns = Field(default_factory=list)
    branches: Patterns = Field(default_factory=list)


class FiltersOut(Response):
    severities: list[Severity] = Field(default_factory=list)
    kinds: list[str] = Field(default_factory=list)
    states: list[str] = Field(default_factory=list)
    suites: list[str] = Field(default_factory=list)
    targets: list[str] = Field(default_factory=list)
    branches: list[str] = Field(default_factory=list)


class ChannelIn(Request):
    """A new channel. A webhook's URL receives signed POST requests, Slack's a message of Slack's blocks, a chat's the
    message of `template`. E-mail has `recipients` instead. `digest_at`: send one message a day instead of single
    ones."""

    name: Name
    kind: ChannelKind = "webhook"
    url: ReceiverUrl | None = None
    recipients: Recipients | None = None
    template: Template | None = None
    filters: FiltersIn = FiltersIn()
    time_zone: TimeZone = "UTC"
    digest_at: TimeOfDay | None = None

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        if (self.kind == "email") != (self.recipients is not None):
            raise ValueError("recipients are for kind email, which needs them")
        if (self.kind == "email") == (self.url is not None):
            raise ValueError("url is for every kind but email, which needs it")
        if (self.kind == "chat") != (self.template is not None):
            raise ValueError("template is for kind chat, which needs it")
        return self


class ChannelPatchIn(Request):
    """The fields to change. `digest_at` null ends digests."""

    name: Name | None = None
    url: ReceiverUrl | None = None
    recipients: Recipients | None = None
    template: Template | None = None
    filters: FiltersIn | None = None
    time_zone: TimeZone | None = None
    digest_at: TimeOfDay | None = None


class ChannelMuteIn(Request):
    """A mute. Events in that time are listed as skipped and not sent later."""

    hours: float = Field(gt=0, le=24 * 90)


class RotateIn(Request):
    """`keep_hours`: how long the current key also signs, beside the new one."""

    keep_hours: int = Field(default=24, ge=0, le=24 * 30)


class ChannelKeyOut(Response):
    id: str
    created_at: datetime
    valid_until: datetime | None


class ChannelOut(Response):
    """A channel. `waiting`: the number of unfinished deliveries. `address`: the receiver's URL without parts that may
    be secret, or the recipients. `keys`: those that sign now, the newest first."""

    id: str
    name: str
    kind: ChannelKind
    address: str
    template: dict[str, Any] | None
    origin: Literal["api", "environment"]
    filters: FiltersOut
    time_zone: str
    digest_at: str | None
    muted_until: datetime | None
    state: ChannelState
    failing_since: datetime | None
    retry_at: datetime | None
    last_error: str | None
    waiting: int
    owner: AccountOut | None
    created_by: str
    created_at: datetime
    keys: list[ChannelKeyOut]


class ChannelCreatedOut(Response):
    """A channel and the secret of its key, which is returned only here; only webhooks have one."""

    channel: ChannelOut
    secret: str | None


class DeliveryOut(Response):
    """One event to one channel. `notification_id` is the event's id, which receivers get as `webhook-id`."""

    id: str
    channel_id: str
    notification_id: str
    kind: str
    severity: Severity
    title: str
    url: str
    state: DeliveryState
    reason: str | None
    attempts: int
    created_at: datetime
    finished_at: datetime | None


class DeliveryAttemptOut(Response):
    number: int
    at: datetime
    status: int | None
    answer: str
    error: str | None
    latency_ms: float


class DeliveryDetailOut(DeliveryOut):
    """A delivery with its message and all attempts; `payload` is null before the first attempt."""

    payload: str | None
    log: list[DeliveryAttemptOut]
