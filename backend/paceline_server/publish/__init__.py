"""Renders verdicts as documents for other programs: JSON, JUnit, Markdown.

Each format has one renderer, and all of them read the rows of `verdicts.py`, so that no output holds a number that the
API does not give (I21).
"""
