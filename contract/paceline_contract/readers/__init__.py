"""Readers of other tools' results, one file each: bytes in, a `paceline.result/1` out (`results.py`), of a history several.

They are pure but for the clock, which tells them what is in the future. The same reader serves a tool that Paceline starts
and a file that somebody imports. Averages never become samples, and what is no figure is refused with its place.
"""
