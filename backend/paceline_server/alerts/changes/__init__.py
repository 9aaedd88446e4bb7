"""Alerts about history: one alert per cause, proven by an A/B run before people hear of it."""
