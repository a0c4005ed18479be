"""Addresses that a webhook may reach: every range to both of its ends, every way to hide an inner one."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.webhook.addresses import is_public

REFUSED_NETWORKS = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
]
REFUSED_V6_NETWORKS = [
    "::/8",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "4000::/3",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
]
INNER = ["127.0.0.1", "10.0.0.5", "169.254.169.254", "168.63.129.16", "192.168.1.1"]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "20.50.2.1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_reached(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("network", REFUSED_NETWORKS)
def test_a_refused_ipv4_network_is_refused_from_end_to_end(network: str) -> None:
    first, last = IPv4Network(network)[0], IPv4Network(network)[-1]

    assert not is_public(first)
    assert not is_public(last)
    assert not is_public(str(first))


@pytest.mark.parametrize(
    "address",
    [
        "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255",
        "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255",
        "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255",
        "203.0.114.0", "223.255.255.255",
    ],
)  # fmt: skip
def test_the_neighbours_of_refused_networks_may_be_reached(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("network", REFUSED_V6_NETWORKS)
def test_a_refused_ipv6_network_is_refused_from_end_to_end(network: str) -> None:
    assert not is_public(IPv6Network(network)[0])
    assert not is_public(IPv6Network(network)[-1])


@given(st.integers(0, 2**128 - 1).map(IPv6Address))
def test_nothing_outside_the_assigned_ipv6_space_may_be_reached(address: IPv6Address) -> None:
    assert not is_public(address) or address in IPv6Network("2000::/3")


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize(
    "prefix",
    [
        "::ffff:0:0",  # mapped
        "::",  # compatible
        "::ffff:0:0:0",  # translated
        "64:ff9b::",  # NAT64
        "64:ff9b:1::",  # local NAT64
        "2001:0:4136:e378:8000:63bf::",  # Teredo
        "2600::5efe:0:0",  # ISATAP on a public prefix
        "2600::200:5efe:0:0",  # ISATAP, universal bit set
        "fe80::5efe:0:0",
    ],
)
def test_an_ipv4_address_inside_an_ipv6_address_is_refused(prefix: str, inner: str) -> None:
    address = IPv6Address(int(IPv6Address(prefix)) | int(IPv4Address(inner)))

    assert not is_public(address)


@pytest.mark.parametrize("inner", INNER)
def test_6to4_and_inverted_teredo_addresses_are_refused(inner: str) -> None:
    number = int(IPv4Address(inner))

    assert not is_public(IPv6Address((0x2002 << 112) | (number << 80)))
    assert not is_public(IPv6Address((0x2001 << 112) | (number ^ 0xFFFFFFFF)))


@pytest.mark.parametrize(
    "text",
    [
        "", "localhost", "example.com", "127.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1",
        "017700000001", "169.254.43518", "1.1.1", "08.8.8.8", "127.0.0.1.", " 1.1.1.1", "1.1.1.1 ",
        "1.1.1.1\n", "\uff11.1.1.1",
        "①.1.1.1", "[2606:4700::1]", "2606:4700::1%eth0", "fe80::1%eth0", "1.1.1.1:80", "1.1.1.1/32",
    ],
)  # fmt: skip
def test_text_that_is_no_plain_literal_address_is_refused(text: str) -> None:
    assert not is_public(text)
    assert not is_public(text, allow_loopback=True)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.255.255.254", "::1"])
def test_loopback_may_be_reached_only_where_it_is_allowed(address: str) -> None:
    assert not is_public(address)
    assert is_public(address, allow_loopback=True)


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "169.254.169.254", "168.63.129.16", "::ffff:127.0.0.1", "0.0.0.0", "::"]
)
def test_allowing_loopback_allows_nothing_else(address: str) -> None:
    assert not is_public(address, allow_loopback=True)
