"""Commands about a server, this host and imports."""
