"""Android devices as targets: finding them, checking their health, and recovering them.

Modules that decide are pure. Only `conditions`, `check`, `attached_device`, `discovery` and the modules they
use send commands to a device.
"""
