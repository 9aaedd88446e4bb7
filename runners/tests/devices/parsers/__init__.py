"""Tests of the parsers of devices' texts."""
