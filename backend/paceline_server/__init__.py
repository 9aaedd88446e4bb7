"""Paceline's server: store, decisions and API. See ARCHITECTURE.md for the journey of one number."""

from importlib.metadata import version

__version__ = version("paceline-server")
