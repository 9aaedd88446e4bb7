"""The Paceline agent and command line: executes suites on targets and sends the samples to the server.

It stands between a workload's standard output (C1) and the server's HTTP interface (C2), imports nothing of
`backend` or `native`, and can be installed alone.
"""

from __future__ import annotations

TYPE_CHECKING = False

__version__: str

if not TYPE_CHECKING:

    def __getattr__(name: str) -> str:
        """Return the version when it is asked for: looking it up takes a third of a driven launch's imports."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version  # noqa: PLC0415 - see above

        return version("paceline")
