"""What changes, as it changes: server-sent events rebuilt from rows."""
