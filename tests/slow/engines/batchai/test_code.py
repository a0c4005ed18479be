"""The preparation that brings the code of a job on Batch AI, run as its nodes do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from shared.core.code.record import CodeSource
from shared.core.engine import Order
from shared.core.job import Reason, Target
from shared.engines.batchai.code import ADDRESS, PLACE, with_code
from shared.engines.batchai.saved import SYSTEM
from shared.engines.batchai.translation import observation
from shared.engines.codeless import CODELESS
from shared.engines.node.code import CODES
from tests.doubles.archives import COMMAND, FOLDER, PRINTED, Entry, file, folder, link, packed
from tests.doubles.code_storage import EXPIRED, CodeStorage, code_storage
from tests.hostile_variables import FOREIGN, ours, prepare, variables

_PROGRAMS = (
    "bash",
    "cat",
    "ls",
    "mkdir",
    "rm",
    "gzip",
    "printf",
    "tar",
    "sha256sum",
    "curl",
    "head",
    "wc",
    "readlink",
)
#: What the archives are refused for that no honest packer makes.
HOSTILE = {
    "a device": packed(Entry("pipe", kind=tarfile.FIFOTYPE)),
    "a hard link": packed(file("a"), Entry("b", kind=tarfile.LNKTYPE, target="a")),
    "a name above": packed(file("../evil", "x")),
    "an absolute name": packed(file("/evil", "x")),
    "a link out": packed(file("a"), link("evil", "../x")),
    "an absolute link": packed(link("evil", "/etc/passwd")),
    "a link out with an arrow": packed(link("a -> b", "../evil"), file("a")),
    "a link out below": packed(file("d/a"), link("d/evil", "../../x")),
    "a link out by way of another one": packed(link("d/up", ".."), link("evil", "d/up/../x")),
    "a file through a link": packed(link("here", "."), file("here/evil", "x")),
    "a file through a link with a dot": packed(link("./here", "."), file("here//evil", "x")),
    "a name twice": packed(file("a", "1"), file("a", "2")),
    "a folder twice": packed(folder("a"), folder("./a")),
    "a file and a folder of one name": packed(file("a"), folder("a")),
    "a link and a file of one name": packed(link("a", "../evil"), file("a", "x")),
    "a link where files are": packed(file("here/evil", "x"), link("here", ".")),
    "too many": packed(*(file(f"{n}") for n in range(20_001))),
}


@pytest.fixture
def storage() -> Iterator[CodeStorage]:
    with code_storage() as server:
        yield server


class Node:
    """A node of Batch AI, or a container on it. `programs`: all that its image has; None: what is here."""

    def __init__(self, root: Path, programs: tuple[str, ...] | None) -> None:
        self.root, self.work = root, root / "wd"
        self.work.mkdir(parents=True)
        self._path = os.environ["PATH"]
        if programs is not None:
            (root / "bin").mkdir()
            for name in programs:
                (root / "bin" / name).symlink_to(
                    shutil.which(name) or pytest.skip(f"{name} is not installed")
                )
            self._path = str(root / "bin")

    def prepare(
        self,
        source: CodeSource,
        own: str = "",
        chosen: Sequence[Mapping[str, str]] = (),
        job: str = "t",
        resumes: str = "",
    ) -> int:
        """The exit code of the preparation of a job; `chosen`: the variables of its document."""
        target = Target(engine="batchai", cluster="c", experiment="e", name="n", token=f"{job}.1")
        properties: dict[str, Any] = {"secrets": None, "environmentVariables": chosen}
        properties["stdOutErrPathPrefix"] = "$AZ_BATCHAI_JOB_TEMP/logs"
        if own:
            properties["jobPreparation"] = {"commandLine": own}
        document = with_code(Order(target, {"properties": properties}, code=source, resumes=resumes))[
            "properties"
        ]
        secrets = {one["name"]: one["value"] for one in document["secrets"]}
        assert secrets == {ADDRESS: source.address}
        assert source.address not in str({**document, "secrets": ()})
        environment = {
            "PATH": self._path,
            "AZ_BATCHAI_JOB_TEMP": str(self.root),
            "AZ_BATCHAI_JOB_MOUNT_ROOT": str(self.root / "mounts"),
        }
        for one in document["environmentVariables"]:
            environment[one["name"]] = one["value"]
            for name in ("AZ_BATCHAI_JOB_TEMP", "AZ_BATCHAI_JOB_MOUNT_ROOT"):
                environment[one["name"]] = environment[one["name"]].replace(f"${name}", environment[name])
        self.environment = {**environment, **secrets}
        text = document["jobPreparation"]["commandLine"]
        if self._path != os.environ["PATH"]:
            text = text.replace(SYSTEM, self._path)
        process = subprocess.run(
            [shutil.which("bash") or "bash", "-c", text],
            check=False,
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            timeout=60,
        )
        assert b"canary" not in process.stdout + process.stderr
        self.errors = process.stderr.decode()
        return process.returncode


@pytest.fixture(params=[None, _PROGRAMS], ids=["python3", "curl and tar"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Node:
    return Node(tmp_path, request.param)


@pytest.mark.parametrize("at", ["work", "scripts/digits"])
def test_the_code_is_at_its_place_before_the_job_s_own_preparation(
    at: str, node: Node, storage: CodeStorage
) -> None:
    own = """cat "$SLIPWAY_CODE/.hidden"; test -x "$SLIPWAY_CODE/run.sh" && test -d "$SLIPWAY_CODE/empty" """

    assert node.prepare(storage.source(packed(*FOLDER), at=at), own) == 0, node.errors

    place = Path(node.environment[PLACE])
    environment = {**node.environment, "PATH": os.environ["PATH"]}
    printed = subprocess.check_output(["bash", "-c", COMMAND], cwd=place, env=environment, text=True)
    assert printed == PRINTED
    assert len(storage.requests) == 1


def test_a_job_goes_on_from_a_copy_of_what_another_one_saved(tmp_path: Path, storage: CodeStorage) -> None:
    source, node = storage.source(packed(*FOLDER)), Node(tmp_path, None)
    saves = 'mkdir "$SLIPWAY_SAVED/deep" && echo 7 >"$SLIPWAY_SAVED/deep/step"'
    goes_on = '[ "$(cat "$SLIPWAY_SAVED/deep/step")" = {} ] && echo 8 >"$SLIPWAY_SAVED/deep/step"'

    assert node.prepare(source, saves, job="first") == 0, node.errors
    (tmp_path / "logs/saved/again.node.1/half").mkdir(parents=True)  # of a node that died while it copied
    for step in (7, 8):  # its second attempt goes on from its own
        assert node.prepare(source, goes_on.format(step), job="again", resumes="first") == 0, node.errors
    assert node.prepare(source, "true", job="third", resumes="absent") == 1

    assert "there is nothing in" in node.errors
    assert (tmp_path / "logs/saved/first/deep/step").read_text() == "7\n"
    assert sorted(path.name for path in (tmp_path / "logs/saved").iterdir()) == ["again", "first"]


@pytest.mark.parametrize("whose", ["foreign", "ours"])
def test_what_the_job_chose_does_not_come_between_its_code_and_its_place(
    whose: str, node: Node, storage: CodeStorage, tmp_path: Path
) -> None:
    names = {name: FOREIGN[name] for name in FOREIGN if name not in ("BASH_ENV", "LD_PRELOAD")}
    names["PATH"] = "/canary/absent"
    if whose == "ours":
        names = {name: value for name, value in ours().items() if not name.startswith("SLIPWAY_CODE")}
    chosen = variables(names, prepare(tmp_path / "hostile"))

    code = node.prepare(storage.source(packed(*FOLDER)), "exit 1", chosen)

    assert code == 1, node.errors
    assert (node.work / ".hidden").read_text() == "dot\n"


@pytest.mark.parametrize("own", ["exit 3", """echo "it's" ')' $(true) {x}; exit 3""", "false || exit 3"])
def test_the_job_s_own_preparation_has_its_own_code(own: str, node: Node, storage: CodeStorage) -> None:
    assert node.prepare(storage.source(packed(*FOLDER)), own) == 3


@pytest.mark.parametrize("code", sorted(CODES.values()))
def test_the_job_s_own_preparation_cannot_end_like_that_of_its_code(
    code: int, tmp_path: Path, storage: CodeStorage
) -> None:
    assert Node(tmp_path, None).prepare(storage.source(packed(*FOLDER)), f"exit {code}") == 1


def test_no_archive_that_cannot_be_had_is_followed_by_the_job_s_own_preparation(
    node: Node, storage: CodeStorage
) -> None:
    mark = node.root / "mark"
    ends = {}
    for word in ("expired", "deleted", "different"):
        storage.blobs.clear()
        source = storage.source(packed(file(word)), **({"signature": EXPIRED} if word == "expired" else {}))
        if word != "expired":
            storage.replace(source, None if word == "deleted" else packed(*FOLDER))
        ends[word] = node.prepare(source, f"echo >{mark}")

        assert not node.errors.startswith(word), "the word is for programs"

    assert ends == {word: CODES[word] for word in ends}
    assert not mark.exists()
    assert list(node.work.iterdir()) == []


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_archive_leaves_nothing(what: str, node: Node, storage: CodeStorage) -> None:
    assert node.prepare(storage.source(HOSTILE[what]), "touch mark") == CODES["hostile"], node.errors

    assert list(node.work.iterdir()) == []
    assert not list(node.root.rglob("evil"))


LINKED = (
    file("data/rows.csv", "1,2\n"),
    file("é/ü.csv", "3\n"),
    link("latest.csv", "data/rows.csv"),
    link("é/up.csv", "../data/rows.csv"),
    link("deep/and/up.csv", "../../é/ü.csv"),
    link("folder", "data"),
    link("a -> b", "data/rows.csv"),
    link("with ] $(x) 'quotes\"", "data"),
)


def test_links_inside_are_made(node: Node, storage: CodeStorage) -> None:
    assert node.prepare(storage.source(packed(*LINKED))) == 0, node.errors

    for one in LINKED[2:]:
        path = node.work / one.name
        assert str(path.readlink()) == one.target
        assert path.exists()
    assert (node.work / "deep/and/up.csv").read_text() == "3\n"
    assert not list(node.root.rglob("*.top"))


@pytest.mark.parametrize(
    ("code", "word"), [("AuthenticationFailed", "expired"), ("AuthorizationFailure", "failed")]
)
def test_only_a_signature_that_is_over_counts_no_use(
    code: str, word: str, node: Node, storage: CodeStorage
) -> None:
    storage.answers = [(403, code)]

    assert node.prepare(storage.source(packed(*FOLDER))) == CODES[word]


def test_of_more_bytes_than_were_accepted_few_are_read(node: Node, storage: CodeStorage) -> None:
    source = storage.source(packed(*FOLDER))
    storage.replace(source, bytes(source.bytes + 1))

    assert node.prepare(source) == CODES["different"]


def test_an_image_with_neither_says_what_is_lacking(tmp_path: Path, storage: CodeStorage) -> None:
    node = Node(tmp_path, ("bash", "tar"))

    assert node.prepare(storage.source(packed(*FOLDER))) == CODES["failed"]
    assert "python3, or curl, tar and sha256sum: there is no curl" in node.errors


def test_an_image_whose_tar_may_read_an_archive_in_another_way_says_what_is_lacking(
    tmp_path: Path, storage: CodeStorage
) -> None:
    node = Node(tmp_path, (*_PROGRAMS, "true"))
    (tmp_path / "bin/tar").unlink()
    (tmp_path / "bin/tar").symlink_to("true")

    assert node.prepare(storage.source(packed(*FOLDER))) == CODES["failed"]
    assert "needs python3, or GNU tar" in node.errors
    assert storage.requests == []


def test_the_codes_are_those_of_the_program_of_the_nodes() -> None:
    assert set(CODELESS) == set(CODES.values())
    assert CODELESS[CODES["deleted"]].text == "its code was deleted"


def test_a_preparation_of_a_job_without_code_never_ends_as_one_that_did_not_start() -> None:
    for code in CODES.values():
        info = {"exitCode": code, "errors": [{"code": "JobPreparationFailed"}]}
        end = observation({"properties": {"executionState": "failed", "executionInfo": info}})

        assert (end.reason, end.unstarted, end.exit_code) == (Reason.PREPARATION, False, code)
