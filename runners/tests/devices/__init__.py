"""Tests of `paceline.devices`; a package, so that they share `support`."""
