"""What is derived from points: levels, environments and changes, evaluated when a point arrived."""
