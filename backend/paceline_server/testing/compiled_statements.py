"""Shares compiled SQL statements between the engines of all tests in a process.

An engine caches what it compiled, and every test has an engine of its own; compiling the same statements again took
more than half of a test's time in SQL. Engines of one kind of database share one dialect and one cache; connections
and pools stay their own. A dialect asks its server about itself when the engine it was made for first connects, so
it is shared only from then on: one whose engine never connected would leave all others without an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Dialect, Engine, create_engine
from sqlalchemy.util import LRUCache

STATEMENTS = 20_000
"""More statements than all tests have together."""


def make_engine_factory() -> Callable[..., Engine]:
    """A `create_engine` whose engines share their compiled statements."""
    dialects: dict[str, Dialect] = {}
    compiled: LRUCache[Any, Any] = LRUCache(STATEMENTS)

    def create(url: str, **options: Any) -> Engine:
        engine = create_engine(url, **options)
        shared = dialects.get(engine.dialect.name)
        if shared is None or shared.server_version_info is None:
            dialects[engine.dialect.name] = engine.dialect
        else:
            engine.dialect = shared
        engine._compiled_cache = compiled  # no option accepts an existing cache
        return engine

    return create
