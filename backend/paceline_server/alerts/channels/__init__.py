"""The ways people hear of an alert; one channel per file."""
