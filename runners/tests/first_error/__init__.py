"""The first error in what tools print: real outputs, and how processes end."""
