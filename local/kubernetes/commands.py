"""The command lines of etcd and of Kubernetes' servers. Pure.

Flags are those that 1.20 and today's versions share.
"""

from dataclasses import dataclass
from pathlib import Path

from local.kubernetes.certificates import Pair
from local.kubernetes.programs import Programs
from local.kubernetes.site import Site

#: Of services; nothing here listens on it.
_SERVICES = "10.77.0.0/16"
#: Calls a second that the controllers may make of a server that is theirs alone.
_FAST = ("--kube-api-qps=200", "--kube-api-burst=400")


@dataclass(frozen=True)
class Keys:
    """The keys and certificates of the servers."""

    authority: Path
    server: Pair
    #: of the API server as a client of the nodes
    to_nodes: Pair
    tokens: Path


def etcd(site: Site) -> list[str]:
    """The store."""
    clients, peers = f"http://127.0.0.1:{site.etcd}", f"http://127.0.0.1:{site.etcd_peers}"
    return [
        "etcd",
        f"--data-dir={site.home / 'etcd'}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        *site.extra.get("etcd", ()),
    ]


def api_server(site: Site, programs: Programs, keys: Keys) -> list[str]:
    """The API server, with RBAC, for clients with a certificate or a token."""
    return [
        str(programs.server("kube-apiserver")),
        f"--etcd-servers=http://127.0.0.1:{site.etcd}",
        "--bind-address=127.0.0.1",
        f"--secure-port={site.api}",
        f"--cert-dir={site.home / 'served'}",
        f"--tls-cert-file={keys.server.certificate}",
        f"--tls-private-key-file={keys.server.key}",
        f"--client-ca-file={keys.authority}",
        f"--kubelet-certificate-authority={keys.authority}",
        f"--kubelet-client-certificate={keys.to_nodes.certificate}",
        f"--kubelet-client-key={keys.to_nodes.key}",
        "--kubelet-preferred-address-types=InternalIP",
        "--authorization-mode=RBAC",
        f"--service-account-key-file={keys.tokens}",
        f"--service-account-signing-key-file={keys.tokens}",
        "--service-account-issuer=https://kubernetes.local",
        f"--service-cluster-ip-range={_SERVICES}",
        "--endpoint-reconciler-type=none",
        *site.extra.get("kube-apiserver", ()),
    ]


def controllers(site: Site, programs: Programs, keys: Keys, kubeconfig: Path) -> list[str]:
    """The controllers: they make pods of Jobs, bind volumes, make tokens, and mark silent nodes as lost."""
    return [
        str(programs.server("kube-controller-manager")),
        *_client(site.controllers, kubeconfig, site),
        *(["--port=0"] if site.has_plain_ports else []),
        f"--service-account-private-key-file={keys.tokens}",
        "--use-service-account-credentials=true",
        f"--root-ca-file={keys.authority}",
        f"--node-monitor-grace-period={site.lost_seconds}s",
        f"--node-monitor-period={max(1, site.lost_seconds // 8)}s",
        *site.extra.get("kube-controller-manager", ()),
    ]


def scheduler(site: Site, programs: Programs, kubeconfig: Path) -> list[str]:
    """The scheduler, which assigns pods to nodes."""
    return [
        str(programs.server("kube-scheduler")),
        *_client(site.scheduler, kubeconfig, site),
        *(["--port=0"] if site.has_plain_ports else []),
        *site.extra.get("kube-scheduler", ()),
    ]


def _client(port: int, kubeconfig: Path, site: Site) -> list[str]:
    options = ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
    return [
        *(f"--{option}={kubeconfig}" for option in options),
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={site.home / 'served'}",
        *_FAST,
    ]
