"""Suites as agents announced them."""
