"""Parsers of the output of a device's commands, one module per kind of text. All are pure.

A value that the text does not state is absent or None, never zero or a default. A refused, empty or truncated
text raises nothing. The cost per character is constant.
"""
