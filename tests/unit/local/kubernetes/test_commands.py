"""The command lines of the servers, and what is said where a program is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from local.kubernetes import commands
from local.kubernetes.certificates import Pair
from local.kubernetes.programs import SERVERS, KubernetesError, Programs, find_programs
from local.kubernetes.site import Site

_PAIR = Pair(Path("/keys/a.pem"), Path("/keys/a.key"))
_KEYS = commands.Keys(Path("/keys/ca.pem"), _PAIR, _PAIR, Path("/keys/tokens.key"))


def _site(**extra: tuple[str, ...]) -> Site:
    return Site(
        home=Path("/home"),
        etcd=1,
        etcd_peers=2,
        api=3,
        controllers=4,
        scheduler=5,
        nodes={"node-0": 6},
        gpus=0,
        pods=8,
        path="/bin",
        lost_seconds=40,
        extra=extra,
    )


def test_everything_listens_on_the_loopback_interface_only() -> None:
    site, programs, file = _site(), Programs(Path("/programs")), Path("/home/a.kubeconfig")
    lines = [
        commands.api_server(site, programs, _KEYS),
        commands.controllers(site, programs, _KEYS, file),
        commands.scheduler(site, programs, file),
    ]

    assert all("--bind-address=127.0.0.1" in line for line in lines)
    urls = [word for word in commands.etcd(site) if "-urls=" in word]
    assert len(urls) == 4
    assert all("=http://127.0.0.1:" in word for word in urls)


def test_no_server_of_an_old_version_listens_without_tls() -> None:
    site, file = replace(_site(), has_plain_ports=True), Path("/home/a.kubeconfig")
    programs = Programs(Path("/programs"))

    assert "--port=0" in commands.controllers(site, programs, _KEYS, file)
    assert "--port=0" in commands.scheduler(site, programs, file)
    assert "--port=0" not in commands.scheduler(_site(), programs, file)


def test_options_of_a_program_follow_ours() -> None:
    assert commands.etcd(_site(etcd=("--quota-backend-bytes=1",)))[-1] == "--quota-backend-bytes=1"


def test_what_is_missing_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(KubernetesError, match="make install-kubernetes") as refused:
        Programs(tmp_path).require()

    assert all(name in str(refused.value) for name in SERVERS)


def test_a_folder_with_other_programs_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBERNETES_PROGRAMS", str(tmp_path))

    assert find_programs().server("kube-scheduler") == tmp_path / "kube-scheduler"
