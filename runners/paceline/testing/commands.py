"""Runs the `paceline` command for tests in forks of one process that has imported everything.

Modules that read the environment or the terminal are imported again in the fork. Tests of starting and of signals run
`python -m paceline` instead.
"""

from __future__ import annotations

import sys

from paceline_contract.testing import forked_commands

assert sys.platform != "win32", "it forks, which Windows cannot"  # noqa: S101 - and mypy stops here

OWN_STATE = ("paceline.cli", "paceline.commands")
"""Modules that read the environment at import, and so are imported again by each command."""

_command = forked_commands.ForkedCommand(__name__)
run, run_bytes, close = _command.run, _command.run_bytes, _command.close
check_against = _command.check_against


def prepare() -> None:
    """Import what commands import when they run, and what parsing arguments imports."""
    from typer.testing import CliRunner  # noqa: PLC0415

    import paceline.agent  # noqa: PLC0415 - which a command imports when it runs
    import paceline.cli  # noqa: PLC0415

    CliRunner().invoke(paceline.cli.app, ["submit", "--help"])


def run_here(arguments: list[str]) -> None:
    """Run the command in a fork, as `python -m paceline` would."""
    for name in list(sys.modules):
        if name.startswith(OWN_STATE):
            del sys.modules[name]
    import paceline.__main__ as program  # noqa: PLC0415 - it looks at the environment

    sys.modules["__main__"] = program  # usage errors state its name
    sys.argv = [str(program.__file__), *arguments]
    from paceline.cli import main as command  # noqa: PLC0415 - the new one

    command()
