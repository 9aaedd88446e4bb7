"""Servers, agents, devices and data for tests."""
