"""Where a job's results are written, when jobs have put links there."""

from __future__ import annotations

from pathlib import Path

import pytest

from confined.way import Refused
from local.nodes.machine import Directories
from local.nodes.mounts import _directory_inside
from local.nodes.output_directory import make_directory
from local.nodes.volume import MountError


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(OSError, match="loop"):
        make_directory(Directories(tmp_path), "loop/x", "r", [])


def test_a_link_that_leads_out_of_the_node_is_refused(tmp_path: Path) -> None:
    (tmp_path / "node").mkdir()
    (tmp_path / "node" / "out").symlink_to(tmp_path)

    with pytest.raises(Refused, match="a link leads out of the mounts"):
        make_directory(Directories(tmp_path / "node"), "out/x", "r", [])


def test_a_path_through_a_circle_does_not_leave_its_share(tmp_path: Path) -> None:
    (share := tmp_path / "share").mkdir()
    (share / "loop").symlink_to("loop")
    (share / "evil").symlink_to(tmp_path)

    for inside in ("loop/../evil", "evil", "loop", "none"):
        with pytest.raises(MountError):
            _directory_inside(share, inside, "AFSMountError")
