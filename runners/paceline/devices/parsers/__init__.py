"""Parsers of what a device's commands print, one module per kind of text; all are pure.

What a text does not say is absent or None, never zero and never a default. "Permission denied", an empty text
or a truncated one is unknown and raises nothing. The cost per character is constant. Judging is done in
`gates.py`.
"""
