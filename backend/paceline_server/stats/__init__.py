"""Verdicts, intervals, gates and derived metrics, and every constant behind them. No I/O."""
