"""Groups of commands over a server's REST API: alerts, rules and schedules."""
