"""Alerts: raised from findings, confirmed before anybody hears of them, triaged by people."""
