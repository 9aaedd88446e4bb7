"""Tests of the agent and the command line; a package so that they share `conftest.py` by name."""
