"""The faults that a test can switch on in the peer, and when each takes effect.

A test changes them while the peer runs. A peer without faults behaves as a healthy device.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Faults:
    """Everything may be set at any time, from any thread."""

    offline: bool = False
    """At CNXN: the connection is accepted and ended without an answer."""
    deny_prompt: bool = False
    """At an offered key: the person refuses; as on a phone, the peer then says nothing more."""
    stls: bool = False
    """At CNXN: the peer asks for TLS, as wireless debugging does."""
    drop_after_bytes: int | None = None
    """On every connection: cut once exactly so many bytes, of both directions, went over it."""
    silent: bool = False
    """On every connection: nothing is read or answered, and nothing ends; a phone out of Wi-Fi's reach."""
    short_writes: bool = False
    """For new connections: a small receive window, read in small pieces, so that a client whose own buffer is
    small sees its send take less than it was given; answers in small pieces and small payloads."""
    slow_bps: int | None = None
    """On every connection: at most so many bytes per second in each direction."""
    legacy: bool = False
    """For new connections: a device of Android 6. No features, payloads of 4 KiB with checksums, no shell v2,
    no exec; shells on a terminal (CR LF, both outputs merged)."""
    no_space_after: int | None = None
    """While a file is pushed: so many bytes more fit into the storage. Counts down."""
    refuse: set[str] = field(default_factory=set)
    """At OPEN: services that begin so ("sync:", "shell,v2") are closed at once."""
    other_serial: str | None = None
    """At getprop: another device answers at this address."""
    stays_away: bool = False
    """After a reboot: refuses connections until `come_back()`."""
    booting: bool = False
    """At getprop: `sys.boot_completed` and `dev.bootcomplete` are empty."""
