"""Statements compiled once per process, and not again for the database of each test.

Place: under the tests of both shapes. An engine keeps what it compiled, and every test has an engine of its
own: more than half of what a test spent on SQL was compiling statements that the test before had compiled.
Invariant: engines of one kind of database have one dialect and one cache; connections, pools and everything a
database says stay each engine's own. It changes no statement: what is compiled depends on the dialect alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Dialect, Engine, create_engine
from sqlalchemy.util import LRUCache

STATEMENTS = 20_000
"""More than all tests have."""


def compiling_once() -> Callable[..., Engine]:
    """SQLAlchemy's `create_engine`; the engines it makes share what they compile."""
    dialects: dict[str, Dialect] = {}
    compiled: LRUCache[Any, Any] = LRUCache(STATEMENTS)

    def create(url: str, **options: Any) -> Engine:
        engine = create_engine(url, **options)
        engine.dialect = dialects.setdefault(engine.dialect.name, engine.dialect)
        engine._compiled_cache = compiled  # no option takes a cache that is there
        return engine

    return create
