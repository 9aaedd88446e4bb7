"""Importers of other tools' output, one per format.

Importers are pure: text in, typed records out. They say why a line does not parse and what was expected, and
never turn averages into samples.
"""
