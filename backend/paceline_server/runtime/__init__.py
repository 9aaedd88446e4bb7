"""Runs long-lived processes: HTTP server, broker, sweeper and `up`."""
