"""The Paceline agent and command line: executes suites on targets and sends the samples to the server.

It stands between a workload's standard output (C1) and the server's HTTP interface (C2), imports nothing of
`backend` or `native`, and can be installed alone.
"""

from importlib.metadata import version

__version__ = version("paceline")
