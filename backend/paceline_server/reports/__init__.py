"""Answers pages and CI from stored data, and writes nothing."""
