"""The search for the one commit an alert is about: A/B jobs, half the range each."""
