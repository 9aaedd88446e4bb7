"""The Paceline agent and command-line client: executes suites on targets and carries samples to the server.

Place in the journey: between a workload's standard output (C1) and the server's HTTP surface (C2).
Invariant: imports nothing of `backend` or `native`; installable alone.
"""

from importlib.metadata import version

__version__ = version("paceline")
