"""The URL gate: which webhook addresses are accepted at all. Pure.

It refuses addresses whose text alone is wrong, before anything is stored or sent. The connect-time gate
checks where a name leads (`adapters/webhook/gate.py`): no check of a text keeps a request out of a private
network. Which secret signs the events for an address is asked when a job is accepted, and again when an event
is signed: teams and settings change.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address
from typing import Any, Protocol

_PATH = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*"
_QUERY = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*"
#: The one grammar that is accepted (RFC 3986 without userinfo, fragment and leniency), so that no second
#: parser can read another host out of the same text.
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://"
    r"(?P<host>[A-Za-z0-9.\-]+|\[[0-9A-Fa-f:.]*\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    rf"(?P<path>/{_PATH})?"
    rf"(?:\?{_QUERY})?",
    re.ASCII,
)
_SHOWN = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]{0,20})://(?:[^/?#\\]*@)?"
    r"(?P<host>[A-Za-z0-9._\-]{1,255}|\[[0-9A-Fa-f:.]{1,60}\])(?P<port>:[0-9]{1,5})?"
    r"(?P<rest>(?:/[A-Za-z0-9\-._~!$&'()*+,;=:/%]*)?(?:[?#].*)?)",
    re.ASCII | re.DOTALL,
)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9\-]{0,61}[a-z0-9])?", re.ASCII)

#: Names that are never a receiver on the internet: RFC 6761, 6762 and 8375, and common conventions.
_INNER_SUFFIXES = frozenset(
    {"alt", "arpa", "corp", "home", "internal", "intranet", "invalid"}
    | {"lan", "local", "localdomain", "localhost", "onion", "private", "test"}
)


#: The hosts that a local stack may allow; its nodes have other addresses of the loopback network.
_OWN_MACHINE = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class UrlPolicy:
    """The webhook addresses that a deployment accepts."""

    ports: frozenset[int] = frozenset({443})
    #: For the local stack: `http://` and any port, for these hosts of its own machine only.
    allow_loopback: bool = False
    #: Host names of this service itself: a webhook to it would let a job's author call it.
    own_hosts: frozenset[str] = frozenset()
    max_length: int = 2048

    def reaches_loopback(self, host: str) -> bool:
        """Whether the host is this machine, and may be reached."""
        return self.allow_loopback and host.lower() in _OWN_MACHINE


#: Receivers recur: what a text alone says of an address is found out once.
_remembered = lru_cache(maxsize=1024)


@_remembered
def refusal(url: str, policy: UrlPolicy) -> str | None:
    """Return a sentence with the problem of a webhook address and its remedy, or None if it passes.

    The sentence never holds the query or the userinfo, which may carry secrets.
    """
    if len(url) > policy.max_length:
        return f"The webhook address has {len(url)} characters; at most {policy.max_length} are accepted."
    parts = _URL.fullmatch(url)
    if parts is None:
        return _unreadable(url)
    host, port = parts["host"].lower(), parts["port"]
    if policy.reaches_loopback(host):
        return _loopback_refusal(parts["scheme"].lower(), port)
    if parts["scheme"].lower() != "https":
        return "The webhook address must begin with https://; events are sent encrypted only."
    return _host_refusal(host, policy) or _port_refusal(port, policy)


@_remembered
def host_of(url: str) -> str:
    """The host of an accepted address, in lower case; "" for any other text."""
    parts = _URL.fullmatch(url)
    return parts["host"].lower() if parts is not None else ""


@_remembered
def hides(url: str) -> bool:
    """Whether the address holds more than its receiver's name: a path or a query may be a secret."""
    parts = _SHOWN.fullmatch(url)
    return parts is None or parts["rest"] not in ("", "/")


@_remembered
def safe_url(url: str) -> str:
    """Return the address for records and logs: scheme, host and port; the rest may be a secret.

    The rest becomes a short digest, which distinguishes two receivers on one host.
    """
    parts = _SHOWN.fullmatch(url)
    if parts is None:
        return "(unreadable address)"
    start = f"{parts['scheme'].lower()}://{parts['host'].lower()}{parts['port'] or ''}"
    return f"{start}/…{hashlib.sha256(url.encode()).hexdigest()[:16]}" if hides(url) else start


@_remembered
def authority(url: str) -> str:
    """Return host and port of an address that passed the gate, in one spelling, as the receiver's name."""
    parts = _URL.fullmatch(url)
    if parts is None:
        raise ValueError("this address has not passed the gate")
    default = "443" if parts["scheme"].lower() == "https" else "80"
    return f"{parts['host'].lower()}:{parts['port'] or default}"


@_remembered
def is_loopback_host(host: str) -> bool:
    """Whether a URL's host is this machine as written: localhost, 127.x.y.z or [::1]; nothing is resolved."""
    if host.lower() in {"localhost", "[::1]"}:
        return True
    try:
        return IPv4Address(host).is_loopback
    except ValueError:
        return False


def _unreadable(url: str) -> str:
    """Name the first likely cause; the order is from the most to the least specific."""
    before_path = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]
    if "@" in before_path:
        return "The webhook address holds a user name or password; remove it, the signature proves who sends."
    if "#" in url:
        return "The webhook address holds a fragment (#…); remove it, it is never sent."
    if not url.isascii():
        return (
            "The webhook address holds characters outside ASCII; write the host as xn--… (punycode) "
            "and percent-encode the rest."
        )
    if "\\" in url or any(ord(character) <= 0x20 or ord(character) == 0x7F for character in url):
        return "The webhook address holds a space, a backslash or a control character; percent-encode it."
    return "The webhook address cannot be read; write it as https://host.example.com/path."


def _loopback_refusal(scheme: str, port: str | None) -> str | None:
    if scheme not in {"http", "https"}:
        return "The webhook address must begin with http:// or https://."
    if port is not None and int(port) > 65535:
        return "The port of the webhook address is over 65535."
    return None


def _host_refusal(host: str, policy: UrlPolicy) -> str | None:
    labels = host.split(".")
    if is_loopback_host(host):
        return "The webhook address names the dispatcher's own machine, which only a local stack may allow."
    if host.startswith("[") or labels[-1][:1].isdigit():
        return "The webhook address names an IP address; use a DNS name, which its certificate can prove."
    if labels[-1] in _INNER_SUFFIXES:
        return f"The webhook host ends in {labels[-1]!r}, a private or reserved name; use a public DNS name."
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return "The webhook host is not a valid DNS name; it has empty, overlong or badly written parts."
    if len(labels) < 2:
        return "The webhook host lacks a domain; use a full public DNS name such as hooks.example.com."
    if _without_scm(host) in {own.lower().rstrip(".") for own in policy.own_hosts}:
        return "The webhook address is this service itself; name the receiver that should get the events."
    return None


def _without_scm(host: str) -> str:
    """An app of Azure has a second site, APP.scm.REST, which can change the app itself."""
    app, _, rest = host.partition(".")
    return f"{app}.{rest.removeprefix('scm.')}"


def _port_refusal(port: str | None, policy: UrlPolicy) -> str | None:
    number = int(port or 443)
    if number in policy.ports:
        return None
    allowed = ", ".join(str(allowed) for allowed in sorted(policy.ports))
    return f"The webhook address uses port {number}; accepted here: {allowed}."


#: The name of the secret for receivers that name none.
DEFAULT = "default"


class Secrets(Protocol):
    """The webhook secrets of a deployment, by name; the policy has their hosts, and its own receivers."""

    @property
    def secrets(self) -> Mapping[str, tuple[str, ...]]: ...  # noqa: D102

    @property
    def policy(self) -> Any: ...  # noqa: D102


def why_unsigned(ports: Secrets, name: str, url: str, of_others: Collection[str] = ()) -> str | None:
    """Why no event of a job is signed by this secret for that address; None if it is.

    `of_others`: the secrets of teams that the job is not in. Such a name is as unknown as one that does not
    exist, so the names of others stay unknown. The deployment's default receivers are for every job.
    """
    if name not in ports.secrets or (name in of_others and not _is_default(ports, name, url)):
        return f"there is no webhook secret named {name!r} for jobs of this team"
    hosts = ports.policy.secret_hosts.get(name)
    if hosts is not None and host_of(url) not in hosts:
        return f"the webhook secret {name!r} is not for this address"
    return None


def _is_default(ports: Secrets, name: str, url: str) -> bool:
    receivers = ports.policy.default_notify
    return any(one.get("url") == url and (one.get("secret") or DEFAULT) == name for one in receivers)
