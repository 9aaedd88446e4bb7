"""Real PostgreSQL and Redis on free ports, for tests."""
