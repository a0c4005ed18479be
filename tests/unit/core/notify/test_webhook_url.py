"""The URL gate: what passes, and every known way to write an inner address or to confuse a parser."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from shared.core.notify.webhook_url import UrlPolicy, authority, is_loopback_host, refusal, safe_url
from tests.unit.core.notify.webhook_addresses import (
    CANARY,
    CONFUSING,
    INNER_NAMES,
    LITERALS,
    LOOKALIKES,
    NOT_NAMES,
    PASSES,
    PORTS,
    SCHEMES,
)

POLICY = UrlPolicy(own_hosts=frozenset({"slipway.azurewebsites.net", "Jobs.Example.org."}))
LOCAL = UrlPolicy(allow_loopback=True)


def refused(url: str, policy: UrlPolicy = POLICY) -> str:
    problem = refusal(url, policy)

    assert problem is not None, f"passed: {url!r}"
    assert problem.endswith(".")
    assert problem.isprintable()
    assert CANARY not in problem
    return problem


def test_an_address_on_the_internet_passes() -> None:
    assert [url for url in PASSES if refusal(url, POLICY)] == []
    assert [url for url in PASSES if refusal(url, LOCAL)] == []


def test_three_parsers_read_the_same_host_from_what_passes() -> None:
    for url in PASSES:
        host = authority(url).rpartition(":")[0]

        assert urlsplit(url).hostname == host
        assert URL(url).raw_host == host
        assert (URL(url, encoded=True).raw_host or "").lower() == host


def test_an_address_literal_in_any_spelling_is_refused() -> None:
    for host in LITERALS + LOOKALIKES:
        refused(f"https://{host}/hook")
        refused(f"https://{host}:443/hook?token={CANARY}")


def test_a_name_of_a_private_network_is_refused() -> None:
    for host in INNER_NAMES:
        refused(f"https://{host}/hook")


def test_what_is_no_dns_name_is_refused() -> None:
    for host in NOT_NAMES:
        refused(f"https://{host}/hook")


def test_an_address_that_parsers_may_read_differently_is_refused() -> None:
    for url in CONFUSING:
        refused(url)
        refused(url, LOCAL)


def test_another_scheme_is_refused() -> None:
    for url in SCHEMES:
        refused(url)
        refused(url, LOCAL)


def test_a_port_that_is_not_allowed_is_refused() -> None:
    for port in PORTS:
        refused(f"https://hooks.example.com:{port}/x")


def test_only_the_configured_ports_pass() -> None:
    policy = UrlPolicy(ports=frozenset({8443}))

    assert refusal("https://hooks.example.com:8443/x", policy) is None
    assert "8443" in refused("https://hooks.example.com/x", policy)
    assert "8443" in refused("https://hooks.example.com:443/x", policy)


@pytest.mark.parametrize(
    "host", ["slipway.azurewebsites.net", "SLIPWAY.AzureWebsites.net", "jobs.example.org"]
)
def test_the_service_itself_is_no_receiver(host: str) -> None:
    assert "itself" in refused(f"https://{host}/api/jobs")


def test_length_is_bounded() -> None:
    base = "https://hooks.example.com/"

    assert refusal(base + "x" * (2048 - len(base)), POLICY) is None
    assert "2048" in refused(base + "x" * (2049 - len(base)))


@pytest.mark.parametrize("piece", ["a", "@", "/", "?", "%20", ":", ".", "a@", "?a", "[", "\\", "://"])
def test_a_very_long_address_is_answered_at_once(piece: str) -> None:
    policy = UrlPolicy(max_length=100_000)

    refused("https://" + piece * 20_000 + "\x00", policy)
    refused("https://h.example.com/?" + piece * 20_000 + "\x00", policy)
    safe_url("https://" + piece * 20_000 + "\x00")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:7071/x", "http://localhost:1/", "https://localhost:8443/x?y=z",
        "http://[::1]:9000/",
        "http://LOCALHOST/x",
    ],
)  # fmt: skip
def test_loopback_passes_where_a_setting_allows_it_and_only_there(url: str) -> None:
    assert refusal(url, LOCAL) is None
    assert "machine" in refused(url, POLICY) or not url.startswith("https")


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/", "https://hooks.example.com:7071/", "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://0.0.0.0/", "http://127.1/", "http://0x7f.1/", "http://2130706433/", "http://127.0.0.256/",
        "http://127.0.1.1/", "http://127.8.9.10/",
        "http://127.0.0.1.:80/", "http://localhost./", "http://a.localhost/", "http://[::ffff:127.0.0.1]/",
        "http://[0:0:0:0:0:0:0:1]/", "http://localhost:0/", "http://localhost:65536/",
        "http://user@localhost/",
        "ftp://localhost/", "http://localhost.evil.net/", "http://192.168.0.1:80/", "http://metadata/",
    ],
)  # fmt: skip
def test_allowing_loopback_allows_nothing_else(url: str) -> None:
    refused(url, LOCAL)


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("https://user:pw@example.com/", "password"),
        ("https://example.com/#x", "fragment"),
        ("https://bücher.example.com/", "punycode"),
        ("https://example.com/a b", "space"),
        ("http://example.com/", "https://"),
        ("https://10.0.0.1/", "IP address"),
        ("https://db/", "domain"),
        ("https://db.internal/", "internal"),
        ("https://example.com:8080/", "8080"),
        ("https://exa_mple.com/", "cannot be read"),
    ],
)
def test_a_refusal_names_what_is_wrong(url: str, word: str) -> None:
    assert word in refused(url)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        (f"https://hooks.example.com/{CANARY}?token={CANARY}", "https://hooks.example.com/…"),
        (f"https://user:{CANARY}@Hooks.example.com:443/a#{CANARY}", "https://hooks.example.com:443/…"),
        (f"https://hooks.example.com?{CANARY}", "https://hooks.example.com/…"),
        (f"http://[::1]:80/{CANARY}", "http://[::1]:80/…"),
        ("https://Hooks.example.com", "https://hooks.example.com"),
        ("https://hooks.example.com/", "https://hooks.example.com"),
        (f"https://user:p/{CANARY}@example.com/", "(unreadable address)"),
        (f"https://user:1/{CANARY}@example.com/", "(unreadable address)"),
        (f"https://us\\er:{CANARY}@example.com/", "(unreadable address)"),
        ("https://example.com/\x1b[31m\n", "(unreadable address)"),
        ("\u202ehttps://example.com/", "(unreadable address)"),
        ("", "(unreadable address)"),
        ("https://example.com/" + "x" * 500, "https://example.com/…"),
    ],
)
def test_what_is_shown_holds_no_path_no_query_no_userinfo_and_nothing_unprintable(
    url: str, text: str
) -> None:
    assert safe_url(url)[: len(text)] == text
    assert re.fullmatch("(?:[0-9a-f]{16})?", safe_url(url)[len(text) :])


def test_two_receivers_on_one_host_are_kept_apart() -> None:
    one, other = safe_url("https://hooks.example.com/a"), safe_url("https://hooks.example.com/b")
    assert one != other
    assert one == safe_url("https://hooks.example.com/a")


@given(
    st.text(max_size=60)
    | st.text("https://.@\\#?:%[]0x1a\t\n", max_size=40).map(lambda end: "https://" + end)
)
def test_any_text_is_answered_and_what_passes_is_read_alike(text: str) -> None:
    assert safe_url(text).isprintable()
    if refusal(text, POLICY) is None:
        assert (
            urlsplit(text).hostname == URL(text, encoded=True).raw_host == authority(text).rpartition(":")[0]
        )
        assert not is_loopback_host(authority(text).rpartition(":")[0])


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://A.example.com/x", "a.example.com:443"),
        ("https://a.example.com:443", "a.example.com:443"),
        ("http://localhost", "localhost:80"),
        ("http://[::1]:99/x", "[::1]:99"),
    ],
)
def test_two_spellings_of_a_receiver_are_one(url: str, name: str) -> None:
    assert authority(url) == name


@pytest.mark.parametrize(
    ("own", "host"),
    [
        ("slipway.azurewebsites.net", "slipway.scm.azurewebsites.net"),
        ("slipway.azurewebsites.net", "SLIPWAY.SCM.azurewebsites.net"),
        ("slipway-a1b2.westeurope-01.azurewebsites.net", "slipway-a1b2.westeurope-01.azurewebsites.net"),
        ("slipway-a1b2.westeurope-01.azurewebsites.net", "slipway-a1b2.scm.westeurope-01.azurewebsites.net"),
    ],
)
def test_the_apps_own_site_and_the_one_that_changes_it_are_refused(own: str, host: str) -> None:
    policy = UrlPolicy(own_hosts=frozenset({own}))

    assert "this service itself" in refused(f"https://{host}/api/zipdeploy", policy)
    assert refusal(f"https://other.{host.partition('.')[2]}/hook", policy) is None
