"""Tests of the peer: by a client written here, packet by packet, and by Google's own."""
