"""`slipway validate --fix` and `--diff`: a job file gets its fixes at once, and no other file is touched."""

import os
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from slipway.commands.validate.rewrite import rewrite
from slipway.commands.validate.validate import run
from slipway.main import app

BROKEN = '{"properties": {"nodeCuont": 1, "customToolkitSettings": {"commandLine": "true"}},}\n'
MENDED = '{"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "true"}}}\n'

NO_JOBS = {
    "train.py": ("# a comment\nimport os  # another\n\nprint({'a': 1})\n", "a Python script"),
    "comments.py": ("# only\n# comments\n", "a Python script"),
    "main.py": ("#!/usr/bin/env python3\n# x\n", "a script (#!/usr/bin/env python3)"),
    "run.sh": ("# no interpreter\necho hello # there\n", "a shell script"),
    "run.sbatch": (
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --time=1\nsrun hostname\n",
        "a Slurm batch script",
    ),
    "run": ("#!/bin/bash\n#SBATCH --nodes=2\n", "a Slurm batch script"),
    "conf.yaml": ("# comment\na: 1\n", "YAML"),
    "conf.toml": ("# comment\n[a]\nb = 1\n", "TOML"),
    "notes.md": ("# Title\n\n// text\n", "Markdown"),
    "empty.json": ("", "an empty file"),
    "blank.json": (" \n\n", "an empty file"),
    "list.json": ("[1, 2,]\n", "a JSON list"),
    "text.json": ('"only a text" // comment\n', "a text that is not JSON"),
    "number.json": ("7 # seven\n", "a text that is not JSON"),
    "half.json": ('{"properties": {"nodeCount": 1, // one\n', "a text that is not JSON"),
    "two.json": ('{"a": 1} // first\n{"b": 2}\n', "a text that is not JSON"),
    "data.bin": ("# \x00\x01", "a binary file"),
    "js.js": ("// comment\nmodule.exports = {a: 1,}\n", "a text that is not JSON"),
}


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", NO_JOBS)
def test_what_is_no_job_file_stays_byte_for_byte_and_is_called_what_it_is(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, kind = NO_JOBS[name]
    file = tmp_path / name
    file.write_bytes(text.encode())
    before = file.stat()

    assert run([str(file)], fix=True) == 1

    assert file.read_bytes() == text.encode()
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert _names(tmp_path) == [name]
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"{file}: error: not changed: this is {kind}, not a JSON object"


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_script_in_another_encoding_is_left_alone_too(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes("# schön\nprint(1)\n".encode(encoding))
    before = file.read_bytes()

    assert run([str(file)], fix=True) == 1
    assert file.read_bytes() == before


def test_diff_shows_what_fix_would_write_and_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text(BROKEN)

    reports = CliRunner().invoke(app, ["validate", "--diff", str(file)])

    assert reports.exit_code == 1
    assert f"+{MENDED}" in reports.output
    assert f"+++ {file} (fixed)\n" in reports.output
    assert "SW012" in reports.output
    assert file.read_text() == BROKEN
    both = CliRunner().invoke(app, ["validate", "--fix", "--diff", str(file)])
    assert both.output == reports.output
    assert file.read_text() == BROKEN
    assert CliRunner().invoke(app, ["validate", "--fix", str(file)]).exit_code == 0
    assert file.read_text() == MENDED
    assert "+++" not in CliRunner().invoke(app, ["validate", "--diff", str(file)]).output


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
def test_the_file_keeps_its_mode_and_leaves_nothing_beside_it(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text(BROKEN)
    file.chmod(mode)

    assert run([str(file)], fix=True) == 0

    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert _names(tmp_path) == ["job.json"]


def test_a_link_stays_a_link_and_its_target_is_fixed(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "a.json").write_text(BROKEN)
    link = tmp_path / "job.json"
    link.symlink_to("real/a.json")

    assert run([str(link)], fix=True) == 0

    assert link.readlink() == Path("real/a.json")
    assert (real / "a.json").read_text() == MENDED
    assert _names(tmp_path) == ["job.json", "real"]
    assert _names(real) == ["a.json"]


def test_anyone_who_has_the_file_open_reads_the_old_content_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text(BROKEN)

    with file.open() as reader:
        start = reader.read(5)
        assert run([str(file)], fix=True) == 0
        assert start + reader.read() == BROKEN
    assert file.read_text() == MENDED


def test_a_folder_that_takes_no_file_leaves_the_old_one_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "job.json"
    file.write_text(BROKEN)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    assert run([str(file)], fix=True) == 1

    assert (
        capsys.readouterr().out.splitlines()[-1]
        == f"{file}: error: cannot be written: No space left on device"
    )
    assert file.read_text() == BROKEN
    assert _names(tmp_path) == ["job.json"]


def test_only_an_ordinary_file_is_rewritten(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(OSError, match="not an ordinary file"):
        rewrite(pipe, b"x")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
