"""Reserves TCP ports for servers that cannot be given a socket and do not say which port they chose.

A port that was free a moment ago may be another process's by the time a server listens on it.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a port of 127.0.0.1 that is given to nobody else until the block ends, and at which nobody listens yet.

    Its socket is bound and does not listen. Linux lets a server listen there that names the port and sets
    SO_REUSEADDR, as servers do, but never chooses the port for a process that asks for any. Other systems refuse
    the server, so there the port is only free.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        if sys.platform != "linux":
            held.close()
        yield port
