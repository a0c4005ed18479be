"""Kubeconfigs: how a client reaches the cluster, in one file. Written as JSON, which every client reads."""

import base64
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.kubernetes.certificates import Pair


def with_certificate(url: str, authority: Path, pair: Pair) -> dict[str, Any]:
    """For a client that a certificate of the cluster's authority names."""
    user = {"client-certificate-data": _packed(pair.certificate), "client-key-data": _packed(pair.key)}
    return _document(url, _packed(authority), user)


def with_token(url: str, authority: Path, token: str, namespace: str) -> dict[str, Any]:
    """For a service account."""
    return _document(url, _packed(authority), {"token": token}, namespace)


def save(file: Path, document: dict[str, Any]) -> dict[str, Any]:
    """Write it for its owner alone; the same."""
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text(json.dumps(document, indent=2))
    return document


@dataclass(frozen=True)
class Connection:
    """The content of a kubeconfig: the address, the TLS context, and headers."""

    url: str
    tls: ssl.SSLContext
    headers: dict[str, str]


def connection(document: dict[str, Any], folder: Path) -> Connection:
    """How to connect as the only user of a kubeconfig of ours; `folder` is for a moment's file."""
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    tls = ssl.create_default_context(cadata=authority)
    if "token" in user:
        return Connection(cluster["server"], tls, {"Authorization": f"Bearer {user['token']}"})
    own = folder / f".client-{id(tls)}.pem"
    own.touch(mode=0o600)
    try:  # the library reads files only
        parts = (user[f"client-{part}-data"] for part in ("certificate", "key"))
        own.write_bytes(b"\n".join(base64.b64decode(part) for part in parts))
        tls.load_cert_chain(own)
    finally:
        own.unlink()
    return Connection(cluster["server"], tls, {})


def _packed(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def _document(url: str, authority: str, user: dict[str, Any], namespace: str = "default") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "local",
        "clusters": [{"name": "local", "cluster": {"server": url, "certificate-authority-data": authority}}],
        "users": [{"name": "local", "user": user}],
        "contexts": [
            {"name": "local", "context": {"cluster": "local", "user": "local", "namespace": namespace}}
        ],
    }
