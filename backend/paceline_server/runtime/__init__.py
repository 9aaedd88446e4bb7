"""Long-running processes: HTTP serving, broker, sweeper and `up`."""
