"""Serves a minimal store of samples, with which `ingest.py` compares ours.

It decodes the same bodies and stores the same columns, and does nothing else.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import zlib
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
import psycopg
from fastapi import Depends, FastAPI, Request
from paceline_server.store.vectors import to_postgresql, to_sqlite

COLUMNS = "seq, arm, vals, rounds, positions, iterations, t_ns"


class Samples(msgspec.Struct, gc=False):
    seq: int
    arm: str
    rounds: list[int]
    positions: list[int]
    iterations: list[int]
    t_ns: list[int]
    values: list[float]


class Body(msgspec.Struct):
    items: list[Samples]


async def read_body(request: Request) -> bytes:
    return await request.body()


def make_rows(items: Sequence[Samples], *, postgresql: bool) -> list[tuple[Any, ...]]:
    pack = to_postgresql if postgresql else to_sqlite
    return [
        (
            item.seq,
            item.arm,
            pack(item.values),
            np.array(item.rounds, dtype="<i4").tobytes(),
            np.array(item.positions, dtype="<i4").tobytes(),
            np.array(item.iterations, dtype="<i8").tobytes(),
            np.array(item.t_ns, dtype="<i8").tobytes(),
        )
        for item in items
    ]


class SQLite:
    def __init__(self, url: str) -> None:
        self.connection = sqlite3.connect(
            url.removeprefix("sqlite:///"), check_same_thread=False
        )
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=NORMAL")
        self.connection.execute("PRAGMA wal_autocheckpoint=4000")
        self.connection.execute(f"CREATE TABLE chunk ({COLUMNS}, PRIMARY KEY (seq))")
        self.lock = threading.Lock()

    def store(self, items: Sequence[Samples]) -> None:
        rows = make_rows(items, postgresql=False)
        with self.lock, self.connection:
            self.connection.executemany(
                "INSERT OR IGNORE INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?)", rows
            )


class PostgreSQL:
    def __init__(self, url: str) -> None:
        self.url = url.replace("+psycopg", "")
        self.local = threading.local()
        with psycopg.connect(self.url) as connection:
            connection.execute(
                "CREATE TABLE chunk (seq bigint PRIMARY KEY, arm text, vals float8[], rounds bytea, "
                "positions bytea, iterations bytea, t_ns bytea)"
            )
            for column in ("vals", "rounds", "positions", "iterations", "t_ns"):
                connection.execute(
                    f"ALTER TABLE chunk ALTER COLUMN {column} SET COMPRESSION lz4".encode()
                )

    def store(self, items: Sequence[Samples]) -> None:
        rows = make_rows(items, postgresql=True)
        if not hasattr(self.local, "connection"):
            self.local.connection = psycopg.connect(self.url)
        with (
            self.local.connection.transaction(),
            self.local.connection.cursor() as cursor,
        ):
            cursor.executemany(
                "INSERT INTO chunk VALUES (%s, %s, %s, %b, %b, %b, %b) ON CONFLICT DO NOTHING",
                rows,
            )


def create() -> FastAPI:
    """Return the application. The variable `BARE_DATABASE` names its database."""
    url = os.environ["BARE_DATABASE"]
    database = SQLite(url) if url.startswith("sqlite") else PostgreSQL(url)
    decoder = msgspec.json.Decoder(Body)
    app = FastAPI()

    @app.post("/items")
    def store_items(
        request: Request, body: Annotated[bytes, Depends(read_body)]
    ) -> dict[str, int]:
        if request.headers.get("content-encoding") == "gzip":
            body = zlib.decompress(body, wbits=31)
        items = decoder.decode(body).items
        database.store(items)
        return {"stored": len(items)}

    return app
