"""Samples, conditions, checks and logs on their way in."""
