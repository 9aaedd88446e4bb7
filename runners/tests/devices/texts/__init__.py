"""Texts of devices, read."""
