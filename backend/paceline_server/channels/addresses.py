"""Decides which network addresses a channel may connect to.

Members of a project choose the addresses of their channels, and the server sends from inside its own network. So an
address is refused unless it is public or the admin of the installation allowed its network
(`PACELINE_CHANNEL_NETWORKS`). `bounded_http.py` checks the address to which it then connects.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses from which a gateway forwards to the IPv4 address in the last 32 bits (RFC 6052)."""


@dataclass(frozen=True)
class AddressPolicy:
    """Says which addresses a channel may reach. `allowed`: private networks that it may reach. `allows_all`: any
    address, for the installation's own channel."""

    allowed: tuple[Network, ...] = ()
    allows_all: bool = False

    def permits(self, address: Address) -> bool:
        """Return whether a channel may connect to `address`."""
        if self.allows_all or _is_in(address, self.allowed):
            return True
        embedded = _embedded_ipv4(address)
        if embedded is not None:
            return self.permits(embedded)
        is_site_local = (
            isinstance(address, ipaddress.IPv6Address) and address.is_site_local
        )
        return address.is_global and not address.is_multicast and not is_site_local

    def first_permitted(self, addresses: Iterable[Address]) -> Address | None:
        """Return the first of a name's addresses that a channel may connect to."""
        return next(filter(self.permits, addresses), None)


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(
        address.version == network.version and address in network
        for network in networks
    )


def _embedded_ipv4(address: Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address contains (mapped, 6to4, Teredo or NAT64), if any."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def literal_address(host: str) -> Address | None:
    """Return a URL's host as an address; None if it is a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
