"""Android devices as targets: finding them, checking their health, and recovering them.

Code that decides is pure and takes what was read; only `conditions`, `check`, `attached_device`, `discovery`
and what they use send commands to a device.
"""
