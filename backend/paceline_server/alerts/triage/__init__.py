"""What people decide about alerts: one at a time, or many at once with an undo."""
