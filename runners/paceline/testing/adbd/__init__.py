"""The peer: an ADB daemon that needs no phone, for tests and for the simulated fleet.

It speaks the protocol as a device does (checked by Google's own `adb`), runs real commands in a scratch root,
answers what only Android could answer by script, and fails on request. It shares no code with
`paceline.adb`, so that a mistake of one side cannot hide in the other.
"""

from paceline.testing.adbd.auth import fingerprint
from paceline.testing.adbd.faults import Faults
from paceline.testing.adbd.peer import Peer

__all__ = ["Faults", "Peer", "fingerprint"]
