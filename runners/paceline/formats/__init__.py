"""Importers of other tools' output, one per format; a second way in beside the bench stream.

Importers are pure: text in, typed records out. An importer says why a line does not parse and what it
expected, and makes no samples of averages.
"""
