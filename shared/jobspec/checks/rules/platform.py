"""Addresses at which the platform of a node answers any program on the node. Pure."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

#: Addresses at which a node's platform answers any program on the node, even with credentials.
_V4 = (IPv4Network("169.254.0.0/16"), IPv4Network("168.63.129.16/32"))
_V6 = (IPv6Network("fe80::/10"), IPv6Network("fd00:ec2::254/128"))
_NAMES = ("metadata.google.internal", "metadata.azure.internal", "instance-data.ec2.internal")
_NAT64 = IPv6Network("64:ff9b::/96")


def is_platform(host: str) -> bool:
    """Whether a host, in any spelling that a resolver accepts, is the metadata service or a similar one."""
    host = host.lower().strip("[]").rstrip(".").partition("%")[0]
    inner = _v4_of(host)
    if inner is None:
        try:
            address = IPv6Address(host)
        except ValueError:
            return host in _NAMES
        if any(address in network for network in _V6):
            return True
        inner = _v4_inside(address)
    return inner is not None and any(inner in network for network in _V4)


def _v4_inside(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address carries, in one of the forms for that."""
    if address in _NAT64 or int(address) >> 32 == 0:  # the second is ::a.b.c.d
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _v4_of(host: str) -> IPv4Address | None:
    """One to four numbers, each decimal, octal or hexadecimal; the last one fills what is left."""
    numbers = [_number(part) for part in host.split(".", 4)]
    if None in numbers or len(numbers) > 4:
        return None
    *first, last = [number or 0 for number in numbers]
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        return None
    return IPv4Address(sum(number << 24 - 8 * index for index, number in enumerate(first)) + last)


def _number(text: str) -> int | None:
    if not text.isascii() or not text.isalnum() or len(text) > 24:
        return None
    base = 16 if text.startswith("0x") else 8 if text.startswith("0") else 10
    try:
        return int(text, base)
    except ValueError:
        return 0 if text == "0x" else None
