"""Stores the history of each measurement across runs: series, their points and annotations."""
