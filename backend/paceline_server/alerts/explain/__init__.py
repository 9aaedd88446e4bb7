"""Explains alerts: every filter with its number and limit, and findings computed again from samples."""
