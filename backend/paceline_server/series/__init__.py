"""History of one measurement across runs: series, their points, and what people wrote
beside them.
"""
