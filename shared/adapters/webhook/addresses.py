"""Which IP addresses a webhook may reach. Pure.

`ipaddress.is_global` is not enough: it passes Azure's own 168.63.129.16, multicast, NAT64, 6to4 and other
ways of writing an inner IPv4 address. So IPv6 is an allow list and IPv4 a complete deny list of our own.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_LOOPBACK_V4 = IPv4Network("127.0.0.0/8")
_LOOPBACK_V6 = IPv6Address("::1")

#: IANA's special-purpose IPv4 networks, and the one public address that Azure answers inside every network.
_REFUSED_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier NAT
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure WireServer: host agent, DNS and DHCP; `is_global` is true for it
        "169.254.0.0/16",  # link-local, the metadata service
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)

#: The only unicast space that IANA has allocated; all addresses outside it are refused.
_GLOBAL_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: carries any IPv4 address
        "3fff::/20",  # documentation
    )
)

#: ISATAP interface ids are 0000:5efe or 0200:5efe before an IPv4 address; the mask drops the u and g bits.
_ISATAP_MASK = 0xFCFF_FFFF
_ISATAP = 0x0000_5EFE


def is_public(address: str | IPv4Address | IPv6Address, *, allow_loopback: bool = False) -> bool:
    """Whether a webhook may connect to this literal address; False for a text that is not one."""
    if isinstance(address, str):
        try:
            address = ip_address(address)
        except ValueError:
            return False
    if isinstance(address, IPv4Address):
        return (allow_loopback and address in _LOOPBACK_V4) or _public_v4(address)
    return (allow_loopback and address == _LOOPBACK_V6) or _public_v6(address)


def _public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in _REFUSED_V4)


def _public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None or address not in _GLOBAL_V6:
        return False
    if (int(address) >> 32) & _ISATAP_MASK == _ISATAP:
        return False
    return not any(address in network for network in _REFUSED_V6)
