"""Reads for pages and CI, computed from stored data; writes nothing."""
