"""Decides about alerts on history: one alert per cause, proven by an A/B run before people are notified."""
