"""What a cluster is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from local import ports
from local.slurm import start
from local.slurm.programs import Programs


@dataclass(frozen=True)
class Installed(Programs):
    """Programs that need not be there."""

    def version(self) -> tuple[int, int]:
        return 24, 11


def test_no_two_parts_of_a_cluster_listen_on_one_port(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ports, "_RANGE", range(12_000, 12_040))  # so few that a second draw would repeat one
    for _ in range(20):
        site = start._site(
            start.Options(data=tmp_path, programs=Installed(), accounting=True), tmp_path, tmp_path
        )
        assert site.accounting is not None
        times = [site.controller_port, site.gateway_port, *site.node_ports.values()]
        times += [site.accounting.slurmdbd, site.accounting.database]
        assert len(set(times)) == len(times)
