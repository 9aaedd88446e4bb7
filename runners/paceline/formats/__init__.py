"""Importers of other tools' output, one per file (criterion, Google Benchmark, JMH, …, logcat), beside real
samples.

Place in the journey: a second way in, next to the bench stream. Invariant: an importer says why a file does
not parse. None is written yet.
"""
