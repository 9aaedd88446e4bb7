"""Projects, their members and their targets: who owns what, and who may see it."""
