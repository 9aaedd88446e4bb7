"""Importers of other tools' output, one per file (logcat, criterion; Google Benchmark, JMH, … are to come),
beside real samples.

Place in the journey: a second way in, next to the bench stream. Invariant: pure: text in, typed records out;
an importer says why a line does not parse and what it would have expected, and makes no samples of averages.
"""
