"""Tests of the transport to devices: one conformance suite for all backends, and tests of each backend."""
