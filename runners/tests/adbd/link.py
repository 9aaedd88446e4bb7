"""A network of two namespaces joined by a cable with an MTU of 1500.

It tests what loopback cannot: how a client behaves when a segment holds 1448 bytes instead of 64 KiB. Only the
thread that enters a side moves there, and it returns at the end; threads and processes it started stay. Making
namespaces needs the right to do so.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

NEW_NETWORK = 0x40000000
"""CLONE_NEWNET of unshare(2) and setns(2)."""
OURS = Path("/proc/thread-self/ns/net")
MTU = 1500
DEVICE, CLIENT = "10.201.77.1", "10.201.77.2"


class UnavailableError(Exception):
    """This machine makes no such network; says why."""


@dataclass(frozen=True)
class Link:
    """The two sides, as descriptors of their namespaces."""

    _device: int
    _client: int

    @contextmanager
    def device(self) -> Iterator[str]:
        """The side of the device; gives its address."""
        with _within(self._device):
            yield DEVICE

    @contextmanager
    def client(self) -> Iterator[str]:
        """The side of the client; gives its address."""
        with _within(self._client):
            yield CLIENT


@contextmanager
def laid() -> Iterator[Link]:
    """The cable, for as long as the block runs. Raises UnavailableError."""
    with ExitStack() as stack:
        device, client = stack.enter_context(_fresh()), stack.enter_context(_fresh())
        link = Link(device, client)
        with link.device():
            # A process on the device's side: `ip` knows a namespace by one of its processes.
            holder = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        try:
            with link.client():
                _ip(
                    "link",
                    "add",
                    "cable",
                    "type",
                    "veth",
                    "peer",
                    "name",
                    "cable",
                    "netns",
                    str(holder.pid),
                )
                _up(CLIENT)
            with link.device():
                _up(DEVICE)
        finally:
            holder.communicate()
        yield link


def _up(address: str) -> None:
    # One segment a packet: with the kernel's segmentation offload 64 KiB would cross the cable at once.
    _ip("link", "set", "cable", "mtu", str(MTU), "gso_max_segs", "1", "up")
    _ip("address", "add", f"{address}/30", "dev", "cable")


def _ip(*arguments: str) -> None:
    try:
        done = subprocess.run(
            ["ip", *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise UnavailableError("no `ip` (package iproute2)") from None
    if done.returncode:
        raise UnavailableError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


@contextmanager
def _fresh() -> Iterator[int]:
    """A new network namespace, which exists while a thread is in it or a descriptor of it is open."""
    if not OURS.exists():
        raise UnavailableError("no network namespaces here (Linux has them)")
    with _back_afterwards():
        if _libc().unshare(NEW_NETWORK):
            raise UnavailableError(f"unshare: {os.strerror(ctypes.get_errno())}")
        made = os.open(OURS, os.O_RDONLY)
        _ip("link", "set", "lo", "up")
    try:
        yield made
    finally:
        os.close(made)


@contextmanager
def _within(namespace: int) -> Iterator[None]:
    with _back_afterwards():
        _enter(namespace)
        yield


@contextmanager
def _back_afterwards() -> Iterator[None]:
    home = os.open(OURS, os.O_RDONLY)
    try:
        yield
    finally:
        _enter(home)
        os.close(home)


def _enter(namespace: int) -> None:
    if _libc().setns(namespace, NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "setns")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
