"""Readers of other tools' results, one file each: bytes in, a `paceline.result/1` out (`results.py`).

They are pure. The same reader serves a tool that Paceline starts and a file that somebody imports. Averages never become
samples, and what is no figure is refused with its place.
"""
