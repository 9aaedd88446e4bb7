"""Runs, jobs, leases and attempts: who measures what, when."""
