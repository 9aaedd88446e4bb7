"""History of one measurement across runs: points, environments, levels and where they changed."""
