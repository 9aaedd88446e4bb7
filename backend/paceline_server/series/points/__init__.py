"""Points of series, stored under the newest names of what they measure."""
