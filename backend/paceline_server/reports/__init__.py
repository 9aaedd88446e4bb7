"""Answers for pages, computed from what is stored. Writes nothing."""
