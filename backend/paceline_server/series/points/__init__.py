"""Points of series as jobs leave them, under the newest name of what they measure."""
