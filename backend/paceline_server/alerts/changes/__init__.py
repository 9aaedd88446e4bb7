"""Alerts about history: changes of series become one alert per cause, proven by an A/B run, then told."""
