"""Reading what a device said while hands were shaken, and saying why they were not.

Place in the journey: between adb-shell, which drops the banner and calls every trouble a timeout or an
unknown command, and `direct.py`. Invariant: pure; each way a handshake can end has one error with advice.
"""

from __future__ import annotations

from collections.abc import Iterator

from paceline.adb.port import (
    AdbError,
    Banner,
    LostError,
    OfflineError,
    SlowError,
    TlsRequiredError,
    UnauthorizedError,
)
from paceline.adb.transport import unpacked

MESSAGE_BYTES = 24
PROP_PREFIX = "ro.product."
NOT_RUNNING = ("recovery", "sideload", "bootloader", "rescue")
"""What a device that is not in Android says before its `::` (AOSP adb/adb.cpp, connection states)."""


def messages(heard: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(command, payload) of each message; a payload may be cut off at the end."""
    at = 0
    while at + MESSAGE_BYTES <= len(heard):
        command, _, _, length = unpacked(heard[at : at + MESSAGE_BYTES])
        at += MESSAGE_BYTES
        yield command, heard[at : at + length]
        at += length


def banner_of(heard: bytes, address: str) -> Banner:
    """Of the device's CNXN. Raises OfflineError when it is not running Android."""
    text = next((payload for command, payload in messages(heard) if command == b"CNXN"), b"")
    return parse_banner(text.rstrip(b"\0").decode("utf-8", "replace"), address)


def parse_banner(text: str, address: str) -> Banner:
    """`device::ro.product.name=x;…;features=a,b`. Raises OfflineError for recovery and its kin."""
    state, _, rest = text.partition("::")
    if state in NOT_RUNNING:
        raise OfflineError(f"the device at {address} is in {state}", "Restart it into Android.")
    pairs = dict(pair.split("=", 1) for pair in rest.split(";") if "=" in pair)
    features = frozenset(filter(None, pairs.pop("features", "").split(",")))
    return Banner(features, {name.removeprefix(PROP_PREFIX): value for name, value in pairs.items()})


def why_not(error: Exception, heard: bytes, asked: bool, address: str, fingerprint: str) -> AdbError:
    """The error of a handshake that failed with `error`. `asked`: the key was offered to a person."""
    commands = [command for command, _ in messages(heard)]
    if b"STLS" in commands:
        return tls_required(f"the device at {address}")
    if asked:
        return _untrusted(error, address, fingerprint)
    if isinstance(error, AdbError) and not isinstance(error, LostError | SlowError):
        return error
    if isinstance(error, SlowError):
        text = f"the device at {address} accepts connections but does not answer"
    else:
        text = f"the device at {address} ended the handshake: {error}"
    return OfflineError(
        text, "Unplug and plug it, or switch USB debugging off and on; another adb may hold the device."
    )


def _untrusted(error: Exception, address: str, fingerprint: str) -> UnauthorizedError:
    if isinstance(error, SlowError):
        return prompt_waits(f"the device at {address}", fingerprint)
    return UnauthorizedError(
        f"the device at {address} does not trust this agent",
        f"Its prompt (fingerprint {fingerprint}) was refused or could not be shown: revoke the USB debugging"
        " authorizations in its developer options, unlock it, connect again and accept.",
    )


def prompt_waits(whom: str, fingerprint: str) -> UnauthorizedError:
    """For a device that has shown its prompt and not answered yet."""
    return UnauthorizedError(
        f"{whom} asks whether to trust this agent",
        f"Unlock it and accept the prompt with the fingerprint {fingerprint}; tick 'always allow'.",
    )


def tls_required(whom: str) -> TlsRequiredError:
    """For a device that answers STLS."""
    return TlsRequiredError(
        f"{whom} wants an encrypted connection (wireless debugging)",
        "Pair it with Google's adb and let the agent use that adb server: adb pair HOST:PORT, adb connect"
        " HOST:PORT. Or put it on a cable once: adb tcpip 5555.",
    )
