"""Creates runs and jobs, leases jobs to agents, and records how they end."""
