"""Keeps the suites that agents announce."""
