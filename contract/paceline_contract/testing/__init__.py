"""Holds what the tests of every member share: how long they wait, and how they start other processes."""
