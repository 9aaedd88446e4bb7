"""Streams changes to clients as server-sent events, read from stored rows."""
