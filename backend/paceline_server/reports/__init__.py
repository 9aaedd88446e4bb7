"""Answers for pages, computed from what is stored; writes nothing."""
