"""Android devices as targets: what they say, what they are fit for, and how they are brought back.

Place in the journey: between `adb` (how a device is reached) and the agent's lanes. Invariant: all that
decides is pure and takes what was read; only `conditions`, `check`, `attached` and `discovery` speak to one.
"""
