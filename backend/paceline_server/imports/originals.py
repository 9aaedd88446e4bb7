"""Keeps the bytes of the file that a document was read from, compressed, and gives them back (I22).

They are uploads of strangers: they are checked and unpacked a piece at a time, up to a limit, and never read here.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_ORIGINAL_BYTES: Final = 64 << 20
"""The longest file that is kept: the longest that readers read."""
PIECE_BYTES = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS


@dataclass(frozen=True)
class Original:
    """A file's bytes in gzip, and its size and hash."""

    packed: bytes
    size: int
    sha256: str


def pack_original(data: bytes) -> Original:
    """Return bytes of our own as an original."""
    return Original(
        gzip.compress(data, mtime=0), len(data), hashlib.sha256(data).hexdigest()
    )


def check_original(text: str) -> Original:
    """Return what the Base64 of an upload holds. Raises ValueError unless it is one whole gzip, at most
    `MAX_ORIGINAL_BYTES` long when unpacked."""
    try:
        packed = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"expected Base64: {error}") from error
    size, digest = 0, hashlib.sha256()
    for piece in unpack_original(packed):
        size += len(piece)
        digest.update(piece)
        if size > MAX_ORIGINAL_BYTES:
            raise ValueError(
                f"expected a file of at most {MAX_ORIGINAL_BYTES:,} bytes, found more"
            )
    return Original(packed, size, digest.hexdigest())


def unpack_original(packed: bytes) -> Iterator[bytes]:
    """Yield the bytes of a gzip in pieces. Raises ValueError for what is none."""
    unpacking = zlib.decompressobj(_GZIP)
    while not unpacking.eof:
        try:
            piece = unpacking.decompress(packed, PIECE_BYTES)
        except zlib.error as error:
            raise ValueError(f"expected gzip: {error}") from error
        packed = unpacking.unconsumed_tail
        if not piece and not packed and not unpacking.eof:
            raise ValueError("expected a whole gzip, found one that is cut off")
        yield piece
    if unpacking.unused_data:
        raise ValueError("expected one gzip, found more behind it")
