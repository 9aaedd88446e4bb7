"""Exports stored rows as NDJSON, CSV and Parquet, typed, in bounded memory.

A table is a shape and blocks of rows (`shapes.py`); each format has one encoder (`encoders.py`, `parquet.py`), so that
the same row has the same values in every format (I21).
"""
