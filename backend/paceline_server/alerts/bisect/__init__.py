"""Finds the commit an alert is about, by A/B jobs that halve the range."""
