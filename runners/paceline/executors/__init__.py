"""Executes launches, on one kind of target per module; the port is `base.py`."""
