"""Tests of the devices room. A package, so that they share `support`."""
