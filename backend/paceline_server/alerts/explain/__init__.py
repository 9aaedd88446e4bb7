"""Explains alerts: every filter with its number and limit, in words, recomputed from
samples.
"""
