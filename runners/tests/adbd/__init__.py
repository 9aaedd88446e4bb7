"""Tests of the simulated device's daemon, with a packet-level client and with Google's client."""
