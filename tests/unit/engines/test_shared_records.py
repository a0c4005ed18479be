"""What the app opens of an attempt, on a file system where a job may put anything anywhere."""

from __future__ import annotations

import json
import os
import shutil
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from confined.names import Names
from shared.core.errors import NotFound, Transient
from shared.core.job import Target
from shared.engines.shared_records import Records
from tests.doubles.scans import count_scans
from tests.names import REFUSED, TREE, each, tree
from tests.unit.engines.slurm.launch_plans import CLUSTER

TARGET = Target(engine="slurm", cluster="gpu", experiment="e", name="n", token="t.1")


@dataclass
class Share:
    """What the nodes have as /shared."""

    root: Path
    names: Names | None = None

    def run(self, *, name: str = "n", token: str = "t.1", **directories: Any) -> Path:
        """A run of an attempt with its record; the folder of its output below the prefix `logs`."""
        place = self.root / "slipway/attempts/e" / name
        folder = self.root / "logs/slurm/gpu/experiments/e/jobs" / name / "7-0"
        (place / "7-0").mkdir(parents=True, exist_ok=True)
        (folder / "stdouterr").mkdir(parents=True, exist_ok=True)
        (folder / "outputs").mkdir(exist_ok=True)
        names = {"stdouterr": f"{self.on_share(folder)}/stdouterr", "M": f"{self.on_share(folder)}/outputs"}
        (place / "turns").mkdir(exist_ok=True)
        for claim in ("claim.json", "turns/1"):
            (place / claim).write_text(json.dumps({"token": token, "run": "7-0"}))
        (place / "7-0/result.json").write_text(json.dumps({"directories": {**names, **directories}}))
        return folder

    def on_share(self, path: Path) -> str:
        """A path as the nodes have it."""
        return f"/shared/{path.relative_to(self.root)}"

    @property
    def records(self) -> Records:
        return Records(replace(CLUSTER, reads={"/shared": str(self.root)}), names=self.names)

    async def log(self, file: str = "stdout.txt", offset: int = 0) -> bytes:
        return (await self.records.chunk(TARGET, "stdouterr", file, offset, 1 << 16)).data

    async def listed(self, directory: str = "M", path: str = ".") -> dict[str, int | str | None]:
        result = await self.records.page(TARGET, directory, path, "")
        return {
            file.name: "link" if file.link else "left out" if file.left_out else file.size
            for file in result.files
        }


@pytest.fixture
def share(tmp_path: Path) -> Share:
    root = tmp_path / "share"
    root.mkdir()
    (tmp_path / "secret").write_text("the app's own")
    return Share(root)


async def test_logs_and_output_are_read(share: Share) -> None:
    folder = share.run()
    (folder / "stdouterr/stdout.txt").write_text("out")
    (folder / "outputs/deep").mkdir()
    (folder / "outputs/deep/a b.bin").write_bytes(b"1234")

    assert await share.log(offset=1) == b"ut"
    assert await share.listed() == {"deep": None}
    assert await share.listed(path="deep") == {"a b.bin": 4}
    assert await share.listed(path="deep/a b.bin") == {}
    assert await share.listed(path="none") == {}


async def test_a_file_of_any_name_is_listed_and_read_with_its_own_bytes(share: Share) -> None:
    """On every engine whose nodes share a directory with the app: Slurm, Kubernetes, Azure Batch."""
    outputs = share.run() / "outputs"
    for path, content in (TREE | tree(each(REFUSED))).items():
        (outputs / path).parent.mkdir(parents=True, exist_ok=True)
        (outputs / path).write_bytes(content)

    for path, content in TREE.items():
        folder, _, name = path.rpartition("/")
        if folder != "files":
            assert await share.listed(path=folder) == {name: len(content)}
        assert (await share.records.chunk(TARGET, "M", path, 0, 1 << 16)).data == content
    for folder in ("files", "folders"):
        shown = await share.listed(path=folder)
        assert {name for name in shown if shown[name] != "left out"} == set(each())
        assert sum(one == "left out" for one in shown.values()) == len(each(REFUSED))


async def test_a_list_goes_on_after_any_name(share: Share) -> None:
    outputs = share.run() / "outputs"
    for name in each():
        (outputs / name).touch()

    names = sorted(each())
    for number, name in enumerate(names):
        page = await share.records.page(TARGET, "M", ".", quote(name, safe=""))
        assert [file.name for file in page.files] == names[number + 1 :]


async def test_the_folders_of_a_run_are_those_below_the_prefix(share: Share) -> None:
    folder = share.run()
    record = await share.records.find(TARGET)
    assert record is not None
    assert str(folder).endswith(f"/{share.records.segment(TARGET, record)}")


async def test_a_log_directory_that_a_job_made_a_link_shows_nothing_of_the_app(share: Share) -> None:
    folder = share.run()
    (folder / "stdouterr").rmdir()
    (folder / "stdouterr").symlink_to("/proc/self")

    for file in ("environ", "stdout.txt", "fd/0", "root/etc/passwd"):
        with pytest.raises(NotFound, match="leads out"):
            await share.log(file)
    with pytest.raises(NotFound, match="leads out"):
        await share.listed("stdouterr")


@pytest.mark.parametrize("level", ["logs", "logs/slurm", "logs/slurm/gpu/experiments/e/jobs/n", "7-0"])
async def test_no_directory_above_the_output_can_be_swapped_for_a_link(share: Share, level: str) -> None:
    folder = share.run()
    outside = share.root.parent / "outside"
    place = folder if level == "7-0" else share.root / level
    shutil.move(place, outside)
    place.symlink_to(outside)
    (outside / "environ").write_text("s")
    (outside / "stdouterr").mkdir(exist_ok=True)
    (outside / "stdouterr/stdout.txt").write_text("s")

    with pytest.raises(NotFound):
        await share.log()
    with pytest.raises(NotFound):
        await share.listed()


@pytest.mark.parametrize(
    "named",
    [
        "/etc",
        "/proc/self",
        "/shared",
        "/shared/logs",
        "/shared/slipway/attempts/e/n",
        "/shared/slipway/saved",
        "/shared/slipway/saved/other",
        "/shared/slipway/saved/t/../other",
        "/shared/logs/slurm/gpu/experiments/e/jobs/other/7-0/stdouterr",
        "/shared/logs/slurm/gpu/experiments/e/jobs/n/8-0/stdouterr",
        "/shared/logs/slurm/gpu/experiments/e/jobs/n/7-0/../../other/7-0/stdouterr",
        "/shared/logs/slurm/gpu/experiments/e/jobs/n/7-0",
        "/shared/logs/slurm/gpu/experiments/e/jobs/n/7-0/stdouterr/../../..",
        "/etc/slurm/gpu/experiments/e/jobs/n/7-0/stdouterr",
        "relative/slurm/gpu/experiments/e/jobs/n/7-0/stdouterr",
        "/shared/\0/slurm/gpu/experiments/e/jobs/n/7-0/stdouterr",
        "/shared/\ud800/slurm/gpu/experiments/e/jobs/n/7-0/stdouterr",
        "",
        None,
        7,
        ["/shared"],
    ],
)
async def test_a_record_names_directories_of_its_own_run_only(share: Share, named: Any) -> None:
    other = share.run(name="other", token="t.2")
    (other / "stdouterr/stdout.txt").write_text("of another")
    (share.root / "slipway/saved/other").mkdir(parents=True)
    (share.root / "slipway/saved/other/stdout.txt").write_text("of another")
    share.run(stdouterr=named, M=named)

    with pytest.raises(NotFound):
        await share.log()
    with pytest.raises(NotFound):
        await share.listed()


async def test_what_a_job_saved_is_read_in_each_of_its_attempts(share: Share) -> None:
    saved = share.root / "slipway/saved/t"
    (saved / "deep").mkdir(parents=True)
    (saved / "deep/step").write_text("7")
    share.run(saved="/shared/slipway/saved/t")

    assert await share.listed("saved") == {"deep": None}
    assert await share.listed("saved", "deep") == {"step": 1}
    assert (await share.records.chunk(TARGET, "saved", "deep/step", 0, 100)).data == b"7"


@pytest.mark.parametrize("level", ["slipway/saved", "slipway/saved/t"])
async def test_nothing_is_read_where_a_job_put_a_link_in_its_place(share: Share, level: str) -> None:
    outside = share.root / "logs/outside"
    share.run(saved="/shared/slipway/saved/t")
    (outside / "t").mkdir(parents=True)
    for folder in (outside, outside / "t"):
        (folder / "step").write_text("of another")
    (share.root / level).parent.mkdir(exist_ok=True)
    (share.root / level).symlink_to(outside)

    with pytest.raises(NotFound):
        await share.listed("saved")
    with pytest.raises(NotFound):
        await share.records.chunk(TARGET, "saved", "step", 0, 100)


async def test_an_attempt_that_became_a_link_to_another_shows_nothing_of_it(share: Share) -> None:
    other = share.run(name="other", token="t.2")
    (other / "stdouterr/stdout.txt").write_text("of another")
    mine = share.run()
    shutil.rmtree(mine.parent)
    mine.parent.symlink_to("other")

    with pytest.raises(NotFound, match="link"):
        await share.log()


@pytest.mark.parametrize(
    "where", ["attempts/e/n", "attempts/e/n/7-0", "attempts/e/n/turns", "attempts/e/n/turns/1"]
)
async def test_the_record_itself_is_read_through_no_link(share: Share, where: str) -> None:
    share.run()
    place = share.root / "slipway" / where
    moved = place.with_name("moved")
    place.rename(moved)
    place.symlink_to(moved)

    with pytest.raises(Transient, match="link"):
        await share.records.find(TARGET)


async def test_links_between_the_files_of_one_run_are_ordinary(share: Share) -> None:
    folder = share.run()
    (folder / "outputs/epochs").mkdir()
    (folder / "outputs/epochs/3.ckpt").write_bytes(b"123")
    (folder / "outputs/last.ckpt").symlink_to("epochs/3.ckpt")
    (folder / "outputs/best").symlink_to("epochs")
    (folder / "outputs/absolute").symlink_to(f"{share.on_share(folder)}/outputs/epochs/3.ckpt")
    run = str(folder.relative_to(share.root / "logs"))
    (folder / "outputs/mounted").symlink_to(f"/tmp/slipway/n-1/mounts/share/{run}/outputs/epochs/3.ckpt")
    (folder / "stdouterr/newest.txt").symlink_to("../outputs/last.ckpt")

    linked = {"best": None, "last.ckpt": 3, "absolute": 3, "mounted": 3}
    assert await share.listed() == {"epochs": None, **linked}
    assert await share.listed(path="best") == {"3.ckpt": 3}
    assert await share.log("newest.txt") == b"123"


async def test_other_links_are_listed_as_links_and_not_opened(share: Share) -> None:
    folder = share.run()
    other = share.run(name="other", token="t.2")
    logs = folder / "stdouterr"
    targets = {
        "absolute": "/etc/passwd",
        "relative": "../../../../../../../../../../secret",
        "neighbour": f"{share.on_share(other)}/stdouterr",
        "beside": "../../../other/7-0/stdouterr",
        "gone": "nothing",
        "loop": "loop",
        "root": "/",
        "alike": f"{share.on_share(folder)}0/stdouterr",
    }
    for name, target in targets.items():
        (logs / name).symlink_to(target)
    os.mkfifo(logs / "pipe")
    (logs / "piped").symlink_to("pipe")

    listed = {one.name: one.kind for one in (await share.records.page(TARGET, "stdouterr", ".", "")).files}
    kinds = {"gone": "nowhere", "loop": "nowhere", "piped": "special", "pipe": "pipe"}
    assert listed == dict.fromkeys(targets, "") | kinds
    for name in ("pipe", "piped"):
        (logs / name).unlink()
    assert await share.listed("stdouterr") == dict.fromkeys(sorted(targets), "link")
    for name in targets:
        with pytest.raises(NotFound):
            await share.log(name)
        with pytest.raises(NotFound):
            await share.log(f"{name}/passwd")


async def test_programs_are_told_from_other_files(share: Share) -> None:
    folder = share.run()
    for name, mode in {"tool": 0o755, "data": 0o644}.items():
        (folder / "outputs" / name).touch(mode)

    listed = {one.name: one.executable for one in (await share.records.page(TARGET, "M", ".", "")).files}
    assert listed == {"tool": True, "data": False}


async def test_pipes_and_sockets_are_named_and_not_opened(share: Share) -> None:
    folder = share.run()
    os.mkfifo(folder / "stdouterr/stdout.txt")

    (listed,) = (await share.records.page(TARGET, "stdouterr", ".", "")).files
    assert (listed.size, listed.left_out, listed.kind) == (None, True, "pipe")
    with pytest.raises(NotFound, match="neither a file nor a directory"):
        await share.log()


async def test_a_link_that_an_operator_made_above_the_jobs_is_followed_below_reads(share: Share) -> None:
    folder = share.run()
    (folder / "stdouterr/stdout.txt").write_text("out")
    (share.root / "mounts").mkdir()
    (share.root / "mounts/external").symlink_to("/shared/logs")
    (share.root / "mounts/away").symlink_to("/etc")
    own = "slurm/gpu/experiments/e/jobs/n/7-0/stdouterr"

    share.run(stdouterr=f"/shared/mounts/external/{own}")
    assert await share.log() == b"out"

    share.run(stdouterr=f"/shared/mounts/away/{own}")
    with pytest.raises(NotFound, match="leads out"):
        await share.log()


async def test_the_most_exact_prefix_of_reads_counts(share: Share, tmp_path: Path) -> None:
    folder = share.run(stdouterr="/shared/data/slurm/gpu/experiments/e/jobs/n/7-0/stdouterr")
    shutil.move(folder.parents[6], tmp_path / "elsewhere")
    (tmp_path / f"elsewhere/{folder.relative_to(share.root / 'logs')}/stdouterr/stdout.txt").write_text("out")
    records = Records(
        replace(CLUSTER, reads={"/shared": str(share.root), "/shared/data": str(tmp_path / "elsewhere")})
    )

    assert (await records.chunk(TARGET, "stdouterr", "stdout.txt", 0, 9)).data == b"out"


async def test_what_cannot_be_seen_is_said(share: Share) -> None:
    share.run()

    with pytest.raises(NotFound, match=r"there is no stdouterr/none\.txt$"):
        await share.log("none.txt")
    with pytest.raises(NotFound, match="no output directory 'X'"):
        await share.listed("X")
    with pytest.raises(NotFound, match="no node has started"):
        await share.records.page(TARGET.model_copy(update={"token": "other"}), "stdouterr", ".", "")
    with pytest.raises(NotFound, match="reads"):
        await Records(replace(CLUSTER, reads={})).page(TARGET, "stdouterr", ".", "")


@pytest.mark.parametrize("run", ["..", ".", "", "a/b", 7, None])
async def test_a_claim_names_a_folder_beside_it(share: Share, run: Any) -> None:
    share.run()
    place = share.root / "slipway/attempts/e/n"
    (place / "turns/1").write_text(json.dumps({"token": "t.1", "run": run}))
    (place / "result.json").write_text("{}")

    assert await share.records.find(TARGET) is None


@pytest.mark.parametrize(("whose", "observation"), [("n-1", True), ("m-1", False), ("n-1/../../m", False)])
async def test_the_output_of_an_earlier_attempt_that_answered_is_read_and_no_other_jobs(
    share: Share, whose: str, observation: bool
) -> None:
    folder = share.run(name="n-1" if observation else "m-1")
    (folder / "stdouterr/stdout.txt").write_text("earlier")
    share.run(name="n-2", token="t.2")
    record = {
        "directories": {"stdouterr": f"{share.on_share(folder)}/stdouterr"},
        "answers": {"name": whose, "run": "7-0"},
    }
    (share.root / "slipway/attempts/e/n-2/7-0/result.json").write_text(json.dumps(record))
    second = TARGET.model_copy(update={"name": "n-2", "token": "t.2"})

    if observation:
        assert (await share.records.chunk(second, "stdouterr", "stdout.txt", 0, 99)).data == b"earlier"
    else:
        with pytest.raises(NotFound):
            await share.records.chunk(second, "stdouterr", "stdout.txt", 0, 99)


@pytest.mark.parametrize("when", [99_999_999_999_999, -99_999_999_999, 253_402_300_800, 9e17])
async def test_a_file_of_any_year_is_listed(
    share: Share, when: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    (share.run() / "outputs/old").write_text("1234")
    real = os.stat

    def dated(*args: Any, **more: Any) -> os.stat_result:
        result = real(*args, **more)
        times = (int(when), int(when), int(when), float(when), float(when), float(when))
        return os.stat_result((*result[:7], *times)) if args[0] == "old" else result

    monkeypatch.setattr(os, "stat", dated)  # few file systems keep such a time

    assert await share.listed() == {"old": 4}


async def test_a_name_that_is_no_text_is_listed_as_one(share: Share) -> None:
    os.mknod(os.fsencode(share.run() / "outputs") + b"/a\xff", stat.S_IFREG | 0o600)

    assert await share.listed() == {"a\\xff": "left out"}


async def test_of_a_directory_with_too_many_entries_some_are_listed_and_the_rest_is_named(
    share: Share,
) -> None:
    share.names = Names(most=3)
    for number in range(5):
        (share.run() / f"outputs/{number}").touch()

    listed = await share.listed()

    assert listed.pop("… more than 3 entries") == "left out"
    assert list(listed.values()) == [0, 0, 0]


async def test_pages_of_a_large_directory_are_one_scan(share: Share, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = share.run() / "outputs"
    for number in range(2500):
        (folder / f"ü{number:04}").touch()
    os.utime(folder, (1, 1))
    records, scans, files, after = share.records, count_scans(monkeypatch), list[str](), ""

    while after or not files:
        page = await records.page(TARGET, "M", ".", after)
        files, after = [*files, *(file.name for file in page.files)], page.next

    assert files == [f"ü{number:04}" for number in range(2500)]
    assert len(scans) == 1 + 3, "the turns of the attempt are listed for each page"


async def test_names_that_cannot_be_asked_for_are_listed_as_left_out(share: Share) -> None:
    for name in ("new\nline", "bell\a", "back\\slash", "unusual\u00a0space"):
        (share.run() / f"outputs/{name}").touch()

    assert await share.listed() == {
        "new\\nline": "left out",
        "bell\\x07": "left out",
        "back\\\\slash": "left out",
        "unusual\u00a0space": 0,
    }
