"""Turns stored samples into findings and verdicts, on the server and offline (`judge`)."""
