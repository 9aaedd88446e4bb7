"""The peer: a simulated device with an ADB daemon, for tests and for the simulated fleet.

It speaks the protocol as a device does (verified with Google's own `adb`), runs real commands in a scratch
root, answers what only Android could answer from scripts, and fails on request. It shares no protocol logic
with `paceline.adb`, so that a mistake on one side cannot hide in the other.
"""

from paceline.testing.adbd.auth import fingerprint
from paceline.testing.adbd.faults import Faults
from paceline.testing.adbd.peer import Peer

__all__ = ["Faults", "Peer", "fingerprint"]
