"""What of a folder becomes code, and what is named because it does not."""

from __future__ import annotations

import io
import os
import socket
import tarfile
from pathlib import Path

import pytest

from slipway.client.files.save import MARK
from slipway.client.snapshot.pack import pack
from slipway.client.snapshot.walk import Tree, one_file, walk
from slipway.failure import Failure
from tests.names import TREE


def put(folder: Path, *names: str, text: str = "1") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def unpacked(tree: Tree) -> dict[str, tarfile.TarInfo]:
    out = io.BytesIO()
    pack(tree, out)
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        return {one.name: one for one in tar}


def test_each_name_that_people_give_to_a_file_arrives(tmp_path: Path) -> None:
    for name, content in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    out = io.BytesIO()

    pack(walk(tmp_path), out)

    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        assert {one.name: tar.extractfile(one).read() for one in tar if one.isfile()} == TREE  # type: ignore[union-attr]


def test_the_bytes_depend_on_what_is_in_the_folder_and_on_nothing_else(tmp_path: Path) -> None:
    names = ["b.py", "a/c.py", "a.py", ".config/x", "a-b"]
    put(tmp_path / "one", *names)
    put(tmp_path / "other", *reversed(names))
    for path in (tmp_path / "other").rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700 if path.is_dir() else 0o600)
    digests = set[str]()

    for folder in ("one", "other"):
        digests.add(pack(walk(tmp_path / folder), io.BytesIO()).sha256)

    assert len(digests) == 1


def test_an_executable_file_an_empty_folder_and_dot_files_are_members(tmp_path: Path) -> None:
    put(tmp_path, "run.sh", "train.py", ".config", "full/a")
    (tmp_path / "run.sh").chmod(0o744)
    (tmp_path / "empty/deep").mkdir(parents=True)

    members = unpacked(walk(tmp_path))

    assert list(members) == [".config", "empty/deep", "full/a", "run.sh", "train.py"]
    assert (members["run.sh"].mode, members["train.py"].mode) == (0o755, 0o644)
    assert members["empty/deep"].isdir()


def test_a_link_that_stays_inside_is_one_and_another_is_the_file_that_it_leads_to(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    put(folder, "data/a.csv", "src/train.py")
    put(tmp_path, "shared.csv", "models/best.bin")
    links = {
        "src/a.csv": "../data/a.csv",
        "src/data": "../data",
        "absolute.csv": str(folder / "data/a.csv"),
        "here": ".",
        "twice": "src/a.csv",
        "shared.csv": "../shared.csv",
        "models": "../models",
        "broken": "absent",
        "circle": "circle",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)

    tree = walk(folder)

    assert tree.links == {
        "absolute.csv": "data/a.csv",
        "here": ".",
        "src/a.csv": "../data/a.csv",
        "src/data": "../data",
        "twice": "data/a.csv",
    }
    assert [file.name for file in tree.files] == ["data/a.csv", "shared.csv", "src/train.py"]
    assert tree.others == {
        "broken": "it is a link that leads nowhere",
        "circle": "it is a link that leads nowhere",
        "models": "it is a link to a folder elsewhere; put the folder itself there",
    }
    assert unpacked(tree)["shared.csv"].isfile()


def test_sockets_and_pipes_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.py")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    monkeypatch.chdir(tmp_path)  # a path to a socket has few characters
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")

        assert walk(tmp_path).others == {
            "link": "it is a link to a pipe",
            "pipe": "it is a pipe",
            "socket": "it is a socket",
        }


LEFT_OUT = (
    ".git/HEAD", "sub/.git", "__pycache__/a.pyc", "deep/__pycache__/b.pyc", ".venv/pyvenv.cfg",
    "env-3/bin/pyvenv.cfg", "node_modules/x/y.js", "out/j_1/" + MARK, ".ipynb_checkpoints/n.ipynb",
    ".DS_Store", ".mypy_cache/x", ".pytest_cache/x", ".ruff_cache/x", ".tox/x", ".hg/x", ".svn/x",
)  # fmt: skip
SECRETS = (
    ".env", "deep/.env.local", ".netrc", ".pypirc", "id_rsa", "keys/id_ed25519", "tls.pem", "a.key",
    "id_rsa_work", "id_rsa.bak", "id_rsa.pub", "deep/.ENV", "deep/.Env", "KEY.PEM", "prod.env", "cert.pfx",
    "cert.p12", "deploy.ppk", ".git-credentials", "_netrc", ".npmrc", ".pgpass", "local.settings.json",
    "tls.pem.bak", ".netrc~", "deep/_NETRC.old",
)  # fmt: skip
MEMBERS = (
    "train.py", ".config/x", ".gitignore", ".gitattributes", "id_map.csv", "keys.py", "environment.yml",
    "deep/job.json", "deep/slipway.json", "env/a.py", "monkey.py", "id_rsa.py",
)  # fmt: skip


def test_what_tools_keep_and_what_may_be_a_secret_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, *LEFT_OUT, *SECRETS, *MEMBERS, "job.json", "slipway.json")
    put(tmp_path, ".aws/credentials", ".ssh/config")

    tree = walk(tmp_path)

    assert {file.name for file in tree.files} == {*MEMBERS}
    assert set(tree.secrets) == {*SECRETS, ".aws", ".ssh"}
    folders = (".git", "env-3/bin", "out/j_1", ".venv", "node_modules", "deep/__pycache__")
    assert {*folders, ".DS_Store", "sub/.git"} <= set(tree.usual)
    assert "job.json" not in tree.usual


def test_the_file_of_rules_adds_and_takes_back(tmp_path: Path) -> None:
    put(tmp_path, ".env", "tls.pem", ".venv/pyvenv.cfg", "a.ckpt", "data/x", ".git/HEAD", "sub/train.py")
    put(tmp_path, ".slipwayignore", text="!.env\n!.venv\n*.ckpt\n/data\n")

    tree = walk(tmp_path)

    assert [file.name for file in tree.files] == [".env", ".venv/pyvenv.cfg", "sub/train.py"]
    assert tree.secrets == ["tls.pem"]
    assert tree.usual == [".git"]


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("*\n!*/\n!*.py\n", []),  # as in .gitignore: only scripts, in any folder
        ("!*\n!**\n!.*\n!*/\n!**/\n!.*/\n!?git\n!sub/**\n!sub/*\n![.]*\n", [".git/hook.py"]),
        ("!.git\n!*/\n", [".git/hook.py"]),
        ("!.git\n.*\n!*/\n", []),
        ("!.ssh/\n!.*env/\n!server.*\n", [".ssh/config.py", ".venv/own.py", "server.key"]),
    ],
)
def test_wildcards_alone_do_not_take_back_what_the_fixed_list_leaves_out(
    tmp_path: Path, text: str, back: list[str]
) -> None:
    fixed = (".git/hook.py", ".ssh/config.py", ".venv/own.py", "server.key", "sub/.hg/hook.py", ".env")
    put(tmp_path, *fixed, ".venv/pyvenv.cfg", "a.py", "sub/b.py")
    put(tmp_path, ".slipwayignore", text=text)

    names = [file.name for file in walk(tmp_path).files if file.name != ".venv/pyvenv.cfg"]

    assert names == sorted([*back, "a.py", "sub/b.py"])


def test_the_request_is_not_code_even_if_the_rules_name_it(tmp_path: Path) -> None:
    put(tmp_path, "job.json", "train.py")
    put(tmp_path, ".slipwayignore", text="!job.json\n")

    assert [file.name for file in walk(tmp_path).files] == ["train.py"]


def test_a_link_to_what_is_left_out_is_named(tmp_path: Path) -> None:
    put(tmp_path, ".env", ".git/HEAD", "a.py")
    (tmp_path / "settings").symlink_to(".env")
    (tmp_path / "head").symlink_to(".git/HEAD")

    assert walk(tmp_path).others == {
        "head": "it is a link to .git/HEAD, which is left out",
        "settings": "it is a link to .env, which is left out",
    }


@pytest.mark.parametrize("target", [*SECRETS, ".aws/credentials", ".ssh/config"])
def test_a_link_to_a_secret_elsewhere_is_named_with_the_way_back(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "project"
    put(tmp_path, target, "project/a.py")
    (folder / "settings").symlink_to(tmp_path / target)
    (folder / "through").symlink_to("settings")
    last = target.rpartition("/")[2]
    words = f"it is a link to {last}, which may be a secret; `!NAME` in .slipwayignore takes it along"

    tree = walk(folder)

    assert [file.name for file in tree.files] == ["a.py"]
    assert tree.others == {name: words.replace("NAME", name) for name in ("settings", "through")}
    put(folder, ".slipwayignore", text="!settings\n")
    assert [file.name for file in walk(folder).files] == ["a.py", "settings"]


def test_a_link_by_way_of_a_secret_name_elsewhere_is_named(tmp_path: Path) -> None:
    put(tmp_path, "values", "project/a.py")
    (tmp_path / ".env").symlink_to("values")
    (tmp_path / "project/settings").symlink_to("../.env")

    assert "a link to .env, which may be a secret" in walk(tmp_path / "project").others["settings"]


@pytest.mark.parametrize("change", ["longer", "touched", "gone"])
def test_a_file_that_changes_before_it_is_packed_is_refused_by_its_name(tmp_path: Path, change: str) -> None:
    put(tmp_path, "a.py", "train.py")
    tree, file = walk(tmp_path), tmp_path / "train.py"
    match change:
        case "longer":
            file.write_text("12")
        case "touched":
            os.utime(file, (1, 1))
        case "gone":
            file.unlink()

    with pytest.raises(Failure, match=r"^train\.py changed while it was read"):
        pack(tree, io.BytesIO())


def test_a_folder_that_packs_to_too_much_names_its_largest_files(tmp_path: Path) -> None:
    put(tmp_path, "small.py")
    (tmp_path / "weights.bin").write_bytes(os.urandom(3 << 20))

    with pytest.raises(
        Failure, match=r"more than 2 MiB.*weights\.bin \(3\.0 MiB\), small\.py \(1 byte\);.*data put"
    ):
        pack(walk(tmp_path), io.BytesIO(), 2 << 20)


def test_files_that_no_node_would_unpack_are_refused_before_they_are_read(tmp_path: Path) -> None:
    put(tmp_path, "train.py")
    with (tmp_path / "holes.bin").open("wb") as file:
        os.truncate(file.fileno(), 5 << 30)

    with pytest.raises(Failure, match=r"has more than 4,096 MiB.*holes\.bin \(5,120\.0 MiB\)"):
        pack(walk(tmp_path), io.BytesIO())


def test_a_folder_of_too_many_files_names_where_they_are(tmp_path: Path) -> None:
    put(tmp_path, "train.py", *(f"images/{number}" for number in range(9)))

    with pytest.raises(Failure, match=r"more than 8 files and folders, most of them in images \(8\)"):
        walk(tmp_path, most=8)


def test_too_many_files_at_the_top_are_counted_together(tmp_path: Path) -> None:
    put(tmp_path, "data/x", *(f"f{number}" for number in range(9)))

    with pytest.raises(Failure, match=r"most of them in the folder itself \(8\), data \(1\);"):
        walk(tmp_path, most=8)


def test_a_name_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).touch()

    with pytest.raises(Failure, match=r"caf\\xe9\.py cannot be sent: its name has the byte 0xE9"):
        walk(tmp_path)


def test_a_script_alone_is_its_only_member(tmp_path: Path) -> None:
    put(tmp_path, "train.py", "data.csv")

    assert list(unpacked(one_file(tmp_path / "train.py"))) == ["train.py"]
