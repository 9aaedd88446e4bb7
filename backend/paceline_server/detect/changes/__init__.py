"""Detects change points: finds levels and changes in the points of series and stores them."""
