"""The transport to devices: one conformance suite for all backends, and each backend's own troubles."""
