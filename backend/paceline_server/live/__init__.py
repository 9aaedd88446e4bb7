"""Streams changes to clients as server-sent events, which are read from stored rows."""
