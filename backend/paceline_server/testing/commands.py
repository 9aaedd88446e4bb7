"""Runs the `paceline-server` command for tests in forks of one process that has imported everything.

Tests of starting, of signals and of what serves run the installed command instead.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

from paceline_contract.testing import forked_commands

IMPORTED_BY_COMMANDS = (
    "paceline_server.api",
    "paceline_server.detect.recompute",
    "paceline_server.publish.exports.restore",
    "paceline_server.publish.offline",
    "paceline_server.runtime.up",
    "paceline_server.store.migrations",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite",
)

_command = forked_commands.ForkedCommand(__name__)
run, run_bytes, close = _command.run, _command.run_bytes, _command.close
check_against = _command.check_against


def prepare() -> None:
    """Import what commands import when they run, and what parsing arguments imports."""
    from typer.testing import CliRunner  # noqa: PLC0415

    from paceline_server import cli  # noqa: PLC0415

    for name in IMPORTED_BY_COMMANDS:
        importlib.import_module(name)
    CliRunner().invoke(cli.app, ["token", "--help"])


def run_here(arguments: list[str]) -> None:
    """Run the command in a fork, as its installed script would."""
    from paceline_server import cli  # noqa: PLC0415

    sys.modules["__main__"] = ModuleType("__main__")  # usage errors state its name
    sys.argv = [str(Path(sys.executable).with_name("paceline-server")), *arguments]
    cli.main()
