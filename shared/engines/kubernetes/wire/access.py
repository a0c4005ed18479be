"""How to reach one API server: its address, authority and credentials, from a kubeconfig or a pod."""

from __future__ import annotations

import base64
import binascii
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from shared.core.errors import Misconfigured

#: A pod's directory with the files of its service account.
IN_CLUSTER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
#: The API server's address inside a cluster.
SERVER = "https://kubernetes.default.svc"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PRINT = "print one with `kubectl config view --raw --flatten --minify -o json`"


@dataclass(frozen=True)
class Access:
    """One API server, and the credentials for it. Only the address is ever shown."""

    url: str
    #: PEM of the authority that signed the server's certificate; "" for the system's authorities
    authority: str = field(default="", repr=False)
    #: PEM of Slipway's certificate and its key; "" with a token
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    #: the file of a token, which is replaced now and then; "" for none
    token_file: str = ""

    def tls(self) -> ssl.SSLContext | None:
        """The TLS context, with Slipway's certificate; None for plain HTTP. Raises Misconfigured."""
        if not self.url.startswith("https"):
            return None
        try:
            context = ssl.create_default_context(cadata=self.authority or None)
            if self.certificate:
                # The library only reads files; this one is removed before the first call.
                with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
                    file.write(f"{self.certificate}\n{self.key}\n")
                    file.flush()
                    context.load_cert_chain(file.name)
        except (ssl.SSLError, ValueError, OSError):
            text = "certificate, key or authority of its kubeconfig cannot be read"
            raise Misconfigured(f"{self.url}: {text}") from None
        return context


#: For a cluster without credentials: every call fails.
NOWHERE = Access(SERVER)


def from_kubeconfig(document: Any, place: str) -> Access:
    """The current context of a kubeconfig. Raises Misconfigured, which names the place only."""
    if not isinstance(document, dict) or not document.get("current-context"):
        raise Misconfigured(f"{place} is not a kubeconfig with a current-context: {_PRINT}")
    context = _named(document, "contexts", "context", document["current-context"], place)
    cluster = _named(document, "clusters", "cluster", context.get("cluster"), place)
    user = _named(document, "users", "user", context.get("user"), place) if context.get("user") else {}
    _refuse_commands(user, place)
    if cluster.get("insecure-skip-tls-verify"):
        text = "insecure-skip-tls-verify would show our token to anyone"
        raise Misconfigured(f"{place}: {text}: use certificate-authority-data")
    return Access(
        checked_url(str(cluster.get("server") or ""), place),
        authority=_data(cluster, "certificate-authority", place),
        certificate=_data(user, "client-certificate", place),
        key=_data(user, "client-key", place),
        token=str(user.get("token") or ""),
        token_file=str(user.get("tokenFile") or ""),
    )


def in_cluster(folder: Path = IN_CLUSTER) -> Access:
    """The credentials of a pod's service account.

    Raises Misconfigured if there are none, as outside a pod.
    """
    try:
        authority = (folder / "ca.crt").read_text(encoding="ascii")
    except (OSError, ValueError):
        text = "this process does not run in a pod of Kubernetes with a service account token"
        remedy = "give the cluster a kubeconfig, or set automountServiceAccountToken"
        raise Misconfigured(f"{text}: {remedy}") from None
    return Access(SERVER, authority=authority, token_file=str(folder / "token"))


def checked_url(text: str, place: str) -> str:
    """The address of an API server. Raises Misconfigured."""
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https") or parts.query or parts.username is not None:
        raise Misconfigured(f"{place}: server must be the address of an API server, e.g. https://HOST:6443")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise Misconfigured(f"{place}: plain http is only for a cluster on this machine: use https")
    return text.rstrip("/")


def _named(document: Mapping[str, Any], kind: str, member: str, name: Any, place: str) -> Mapping[str, Any]:
    entries = document.get(kind)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get(member), dict):
            return dict(entry[member])
    raise Misconfigured(f"{place}: {kind} does not list {name!r}: {_PRINT}")


def _refuse_commands(user: Mapping[str, Any], place: str) -> None:
    for kind in ("exec", "auth-provider"):
        if kind in user:
            text = f"its user logs in by {kind}, which needs a program of your machine"
            remedy = "use the token of a service account"
            raise Misconfigured(f"{place}: {text}: {remedy}")


def _data(entry: Mapping[str, Any], name: str, place: str) -> str:
    """The decoded base64 of a member. A file of another machine is refused."""
    if entry.get(name) and not entry.get(f"{name}-data"):
        raise Misconfigured(f"{place}: {name} is a file: {_PRINT}")
    try:
        return base64.b64decode(str(entry.get(f"{name}-data") or ""), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        raise Misconfigured(f"{place}: {name}-data is not base64 of a PEM text") from None
