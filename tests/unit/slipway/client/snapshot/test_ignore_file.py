"""Which files no upload takes along."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.client.drops.folder import to_upload
from slipway.client.snapshot.ignore_file import NAME, IgnoreFile
from slipway.commands.data.put import to_put
from slipway.failure import Failure

RULES = (
    "# a remark\n\n*.ckpt\n!best.ckpt\n/data/\nruns/**\nnotes/*.txt\n**/cache\nsrc/**/old\n"
    "v[0-9].bin\nw[!a].bin\nbuild/\nlog?\n!/runs/keep.txt\ntrailing   \n"
)
#: What `git check-ignore` says of paths with these rules in a `.gitignore`.
IGNORED = (
    "a.ckpt", "deep/a.ckpt", "data/x", "runs/a", "runs/deep/a", "notes/a.txt", "cache/x",
    "deep/er/cache", "src/old", "src/a/b/old/c", "v1.bin", "wb.bin", "build/x", "deep/build/x",
    "log1", "trailing", "deep/v2.bin", "a.ckpt/inside",
)  # fmt: skip
OTHERS = (
    "best.ckpt", "deep/best.ckpt", "deep/data/x", "data", "runs/keep.txt", "notes/deep/a.txt",
    "deep/notes/a.txt", "src/older", "vx.bin", "wa.bin", "build.txt", "log", "log12", "train.py",
    "# a remark", "A.CKPT", "[0-9]",
)  # fmt: skip


def rules(folder: Path, text: str) -> IgnoreFile:
    (folder / NAME).write_text(text)
    return IgnoreFile.of_folder(folder)


@pytest.mark.parametrize("path", [*IGNORED, *OTHERS])
def test_a_path_is_ignored_as_git_ignores_it(tmp_path: Path, path: str) -> None:
    assert rules(tmp_path, RULES).fits(path) is (path in IGNORED)


def test_a_folder_without_the_file_is_uploaded_whole(tmp_path: Path) -> None:
    assert not IgnoreFile.of_folder(tmp_path).fits("a")


@pytest.mark.parametrize("text", ["a\\b", "a//b", "/", "!", "[z-a]", "[[:digit:]]*"])
def test_a_line_that_is_no_pattern_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    with pytest.raises(Failure, match=r"line 2: .* is not a pattern"):
        rules(tmp_path, f"a\n{text}\n")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"\xff\xfe")
    with pytest.raises(Failure, match="cannot be read"):
        IgnoreFile.of_folder(tmp_path)


def test_uploads_of_folders_take_along_what_is_not_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("job.json", "train.py", "data/large.bin", "notes/a.ckpt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "linked").symlink_to(tmp_path / "notes")
    (tmp_path / NAME).write_text("data/\n*.ckpt\nlinked\n")

    dropped = [path.relative_to(tmp_path).as_posix() for path in to_upload(tmp_path)]
    put_names = [file.name for file in to_put([tmp_path], "")]

    assert dropped == ["train.py", "job.json"]
    assert put_names == [f"{tmp_path.name}/{name}" for name in ("job.json", "train.py")]
    assert capsys.readouterr().err == ""


def test_a_folder_of_which_everything_is_ignored_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / NAME).write_text("*\n")

    for upload in (to_upload, lambda folder: to_put([folder], "")):
        with pytest.raises(Failure, match=NAME):
            upload(tmp_path)


@pytest.mark.parametrize("name", ["job.json", "slipway.json"])
def test_what_says_how_the_job_runs_is_not_left_out(tmp_path: Path, name: str) -> None:
    """One of an earlier upload would run in its place."""
    for one in ("train.py", name):
        (tmp_path / one).touch()
    (tmp_path / NAME).write_text("*.json\n")
    with pytest.raises(Failure, match=f"leaves out {name}, which says what runs; add the line !{name}"):
        to_upload(tmp_path)
    (tmp_path / NAME).write_text(f"*.json\n!{name}\n")
    assert [path.name for path in to_upload(tmp_path)] == ["train.py", name]
