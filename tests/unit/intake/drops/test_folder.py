"""What a folder of the drop container asks for: its runs, what it waits for, and which names count."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest

from shared.core.errors import Misuse
from shared.core.ports import Blob, BlobPage, Content
from shared.intake.drops.folder import plans
from shared.intake.drops.plan import Plan, Plans
from tests.doubles.memory import MemoryDrops
from tests.unit.world import World, job_json

MOUNT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts"
PLAIN = json.dumps(job_json()).encode()


def job_for(*scripts: str) -> bytes:
    command = " ".join(["python", *(f"{MOUNT}/{name}" for name in scripts)])
    return json.dumps(job_json(customToolkitSettings={"commandLine": command})).encode()


def template(placeholder: str = "<SLIPWAY_SCRIPT>") -> bytes:
    return json.dumps(job_json(customToolkitSettings={"commandLine": f"python {placeholder}"})).encode()


@dataclass
class Listed(MemoryDrops):
    """Notes what was asked for; `large` cannot be read, and `newer` is written anew after every listing."""

    listed: list[str] = field(default_factory=list)
    sought: list[str] = field(default_factory=list)
    large: str = ""
    newer: str = ""

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        self.listed.append(prefix)
        answer = await super().page(prefix, deep=deep, after=after)
        if self.newer in self.blobs:
            self.upload(self.newer, b"{}")
        return answer

    async def find(self, name: str) -> Blob | None:
        self.sought.append(name)
        return await super().find(name)

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        if name == self.large:
            raise Misuse(f"{name} is too large", remedy="make it smaller")
        return await super().read(name, etag=etag, limit=limit)


@dataclass
class Dropped:
    """A container with some files."""

    world: World
    drops: Listed

    def put(self, **files: bytes) -> None:
        for name, body in files.items():
            self.drops.upload(name, body)

    async def plans(self, folder: str) -> Plans:
        page = await MemoryDrops.page(self.drops, folder, deep=False)
        return await plans(self.world.ports, folder, page.blobs, deeper=bool(page.folders))

    async def plan(self, folder: str) -> Plan:
        """The only run."""
        (plan,) = (await self.plans(folder)).runs
        return plan

    async def runs(self, folder: str) -> list[tuple[str, ...]]:
        """The files of each run."""
        return [tuple(blob.name for blob in plan.files) for plan in (await self.plans(folder)).runs]


@pytest.fixture
def dropped(world: World) -> Dropped:
    world.use(drops=(drops := Listed(world.clock)))
    return Dropped(world, drops)


# The job file


async def test_a_folder_without_any_job_file_says_so(dropped: Dropped) -> None:
    dropped.put(**{"a/train.py": b"", "a/job.json.bak": PLAIN, "a/x/job.json": PLAIN})
    output = "there is no job.json in this folder, and no template above it"
    near = '; there is "{}job.json.bak", which has ".bak" at its end'
    assert await dropped.plans("a/") == Plans(waits=output + near.format("a/"))
    assert await dropped.plans("") == Plans(waits=output)
    dropped.put(**{"job.json.bak": PLAIN})
    assert await dropped.plans("") == Plans(waits=output + near.format(""))


async def test_a_job_runs_with_the_scripts_that_it_names_wherever_they_are(dropped: Dropped) -> None:
    files = {"a/job.json": job_for("a/train.py", "lib/tools.py"), "a/train.py": b"", "lib/tools.py": b""}
    dropped.put(**files, **{"a/slipway.json": b"{}", "a/other.py": b"", "job.json": PLAIN})
    assert await dropped.runs("a/") == [("a/job.json", "a/train.py", "lib/tools.py", "a/slipway.json")]
    assert dropped.drops.sought == ["lib/tools.py"]  # what the folder's listing says costs nothing
    assert dropped.drops.listed == []

    plan = await dropped.plan("a/")
    assert (plan.folder, plan.path, plan.script, plan.problems) == ("a/", "a/|", None, ())
    assert plan.job.raw == files["a/job.json"]
    assert plan.job.document == json.loads(files["a/job.json"])
    assert plan.etags == {blob.name: blob.etag for blob in plan.files}
    assert [blob.name for blob in plan.own_files] == ["a/job.json", "a/train.py", "lib/tools.py"]


async def test_a_job_may_name_a_script_of_its_own_folder_without_naming_the_folder(dropped: Dropped) -> None:
    body = json.dumps(job_json(customToolkitSettings={"commandLine": "python <SLIPWAY_FOLDER>/train.py"}))
    dropped.put(**{"a/b/job.json": body.encode(), "a/b/train.py": b""})
    assert await dropped.runs("a/b/") == [("a/b/job.json", "a/b/train.py")]


async def test_a_job_at_the_top_runs_and_nothing_is_asked_for_above_it(dropped: Dropped) -> None:
    dropped.put(**{"job.json": job_for("train.py"), "train.py": b""})
    assert await dropped.runs("") == [("job.json", "train.py")]
    assert dropped.drops.sought == []


async def test_a_script_that_is_missing_is_waited_for_by_name(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": job_for("a/b.py", "a/c.py", "a/d.py"), "a/c.py": b"", "a/b.py.txt": b""})
    output = "waits for a/b.py, a/d.py, which a/job.json names"
    output += '; there is "a/b.py.txt", which has ".txt" at its end'
    assert await dropped.plans("a/") == Plans(waits=output)


async def test_a_job_of_another_container_waits_for_no_script(dropped: Dropped) -> None:
    completion = dropped.world.ports.policy.completion
    for container, account in (("other", "acct"), ("scripts", "elsewhere")):
        own = replace(completion, drop_container=container, drop_account=account)
        dropped.world.policy(completion=own, drop_container=container)
        mount = {"accountName": "acct", "containerName": "scripts", "relativeMountPath": "scripts"}
        document = json.loads(job_for("a/train.py"))
        document["properties"]["mountVolumes"] = {"azureBlobFileSystems": [mount]}
        dropped.put(**{"a/job.json": json.dumps(document).encode()})
        assert await dropped.runs("a/") == [("a/job.json",)]


async def test_helpers_below_the_folder_of_a_job_are_no_runs(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": job_for("a/train.py"), "a/train.py": b"", "a/lib/tools.py": b""})
    assert await dropped.plans("a/lib/") == Plans()


@pytest.mark.parametrize("body", [b"{", b'"text"', b'{"properties": }'])
async def test_a_job_file_that_cannot_be_read_is_a_run_with_its_problems(
    dropped: Dropped, body: bytes
) -> None:
    dropped.put(**{"a/job.json": body, "a/train.py": b""})
    plan = await dropped.plan("a/")
    assert plan.job.document is None
    assert plan.job.request.problems
    assert plan.scripts == ()


async def test_a_job_file_that_is_too_large_is_known_by_its_version(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": PLAIN})
    dropped.drops.large = "a/job.json"
    plan = await dropped.plan("a/")
    assert plan.job.raw == plan.job.blob.etag.encode()
    (problem,) = plan.job.request.problems
    assert (problem.code, problem.message, problem.remedy) == (
        "SW107",
        "a/job.json is too large",
        "make it smaller",
    )


async def test_the_limit_of_a_document_holds_for_the_job_file(dropped: Dropped) -> None:
    dropped.world.policy(max_document=len(PLAIN) - 1)
    dropped.put(**{"a/job.json": PLAIN})
    plan = await dropped.plan("a/")
    assert [problem.code for problem in plan.job.request.problems] == ["SW107"]


async def test_problems_name_the_job_file(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": json.dumps(job_json(nodeCuont=1)).encode()})
    plan = await dropped.plan("a/")
    assert plan.job.request.text is not None
    assert plan.job.request.text.file == "a/job.json"


async def test_a_job_file_that_changes_meanwhile_is_left_to_its_next_look(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": PLAIN})
    dropped.drops.newer = "a/job.json"
    blobs = (await dropped.drops.page("a/", deep=False)).blobs
    assert (await plans(dropped.world.ports, "a/", blobs)).waits


# Templates


async def test_a_template_above_runs_each_script_that_it_asks_for(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": template("<SLIPWAY_SCRIPT:train*.py>"), "a/b/slipway.json": b"{}"})
    dropped.put(**{f"a/b/{name}": b"" for name in ("train1.py", "train2.py", "tools.py")})
    assert await dropped.runs("a/b/") == [
        ("a/job.json", f"a/b/train{n}.py", "a/b/slipway.json") for n in (1, 2)
    ]
    first = (await dropped.plans("a/b/")).runs[0]
    assert first.script is not None
    assert (first.path, first.script.name, first.problems) == ("a/b/|a/b/train1.py", "a/b/train1.py", ())
    assert [blob.name for blob in first.own_files] == ["a/b/train1.py"]


async def test_a_template_runs_neither_itself_nor_without_its_script(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": template(), "a/b/notes.txt": b""})
    assert await dropped.plans("a/") == Plans()
    output = "waits for a script that matches '*.py', which a/job.json asks for"
    assert await dropped.plans("a/b/") == Plans(waits=output)


@pytest.mark.parametrize(
    ("pattern", "files", "named", "example"),
    [
        ("<SLIPWAY_SCRIPT>", ("train.py",), "train.py", "a/train/train.py"),
        ("<SLIPWAY_SCRIPT>", ("b.py", "a.py", "notes.txt"), "a.py and b.py", "a/a/a.py"),
        ("<SLIPWAY_SCRIPT>", ("a.py", "b.py", "c.py", "d.py"), "a.py and 3 others", "a/a/a.py"),
        ("<SLIPWAY_SCRIPT:run-*.sh>", ("run-1.sh", "tools.py"), "run-1.sh", "a/run-1/run-1.sh"),
    ],
)
async def test_a_script_beside_its_template_is_named_with_a_place_where_it_runs(
    dropped: Dropped, pattern: str, files: tuple[str, ...], named: str, example: str
) -> None:
    dropped.put(**{"a/job.json": template(pattern)}, **{f"a/{name}": b"" for name in files})
    plans = await dropped.plans("a/")
    assert (plans.runs, plans.of_template) == ((), True)
    assert plans.waits.startswith(f"{named} do")
    assert f"for example {example}, or" in plans.waits


@pytest.mark.parametrize(
    ("pattern", "files", "named"),
    [
        ("train*.py", ("train.sh",), "train.sh does"),
        ("train*.py", ("Train.PY",), "Train.PY does"),
        ("train*.py", ("main.py", "utils.py"), "main.py and utils.py do"),
        ("train*.py", ("main.py", "slipway.json", "x.txt", "y.txt"), "main.py and 2 others do"),
        ("*.py", ("train.ipynb",), "train.ipynb does"),
    ],
)
async def test_files_that_match_no_template_are_named_beside_one_that_no_folder_uses(
    dropped: Dropped, pattern: str, files: tuple[str, ...], named: str
) -> None:
    placeholder = "<SLIPWAY_SCRIPT>" if pattern == "*.py" else f"<SLIPWAY_SCRIPT:{pattern}>"
    dropped.put(**{"a/job.json": template(placeholder)}, **{f"a/{name}": b"" for name in files})
    plans = await dropped.plans("a/")
    assert (plans.runs, plans.of_template) == ((), True)
    assert plans.waits.startswith(f"{named} not run: a/job.json beside")
    assert f"scripts of the folders below that match '{pattern}'" in plans.waits
    assert f"give the script a name that matches '{pattern}', and put it" in plans.waits


async def test_what_a_template_does_not_ask_for_may_lie_beside_one_that_folders_use(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": template("<SLIPWAY_SCRIPT:train*.py>"), "a/tools.py": b"", "a/x.txt": b""})
    assert (await dropped.plans("a/")).waits
    dropped.put(**{"a/b/train.py": b""})
    assert await dropped.plans("a/") == Plans()


@pytest.mark.parametrize(
    ("below", "uses"),
    [
        ({}, False),
        ({"a/data/x.csv": b"", "a/data/deep/notes.txt": b""}, False),
        ({"a/data/__pycache__/train.py": b"", "a/.git/train.py": b""}, False),
        ({"a/data/x.csv": b"", "a/data/deep/train.py": b""}, True),
        ({f"a/data/{number}": b"" for number in range(5 * 3 - 2)}, False),
        ({f"a/data/{number}": b"" for number in range(5 * 3 - 1)}, True),  # the rest of the list is not read
    ],
)
async def test_folders_below_use_a_template_only_where_a_script_is_in_them(
    dropped: Dropped, below: dict[str, bytes], uses: bool
) -> None:
    dropped.drops.most = 3
    dropped.put(**{"a/job.json": template("<SLIPWAY_SCRIPT:train*.py>"), "a/main.py": b""}, **below)
    plans = await dropped.plans("a/")
    assert (plans.waits.startswith("main.py does not run: "), plans.of_template) == (not uses, not uses)


async def test_a_template_at_the_top_names_a_folder_too(dropped: Dropped) -> None:
    dropped.put(**{"job.json": template(), "train.py": b""})
    assert "for example train/train.py, or" in (await dropped.plans("")).waits


async def test_a_script_beside_a_template_takes_none_from_the_folders_below(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": template(), "a/train.py": b"", "a/b/c/train.py": b""})
    assert await dropped.runs("a/b/c/") == [("a/job.json", "a/b/c/train.py")]


async def test_helpers_below_a_folder_that_a_template_runs_are_no_runs(dropped: Dropped) -> None:
    dropped.put(**{"a/job.json": template(), "a/b/train.py": b"", "a/b/c/d/tools.py": b"", "a/b/n.txt": b""})
    assert await dropped.plans("a/b/c/d/") == Plans()
    assert await dropped.runs("a/b/") == [("a/job.json", "a/b/train.py")]


async def test_a_template_that_names_no_script_runs_the_only_one_and_asks_which_of_several(
    dropped: Dropped,
) -> None:
    dropped.put(**{"a/job.json": template(), "a/b/train.py": b""})
    plan = await dropped.plan("a/b/")
    assert plan.problems == ()

    dropped.put(**{"a/b/tools.py": b"", "a/b/notes.txt": b""})
    plan = await dropped.plan("a/b/")
    (problem,) = plan.problems
    assert problem.message == "2 files of the folder match '*.py': tools.py, train.py"
    assert problem.remedy == (
        "say in a/job.json which one runs, e.g. <SLIPWAY_SCRIPT:train*.py>, "
        "or put the helpers into a folder of their own"
    )


@pytest.mark.parametrize(("levels", "result"), [(1, True), (8, True), (9, False)])
async def test_a_template_is_looked_for_eight_levels_up(dropped: Dropped, levels: int, result: bool) -> None:
    folder = "/".join("abcdefghi"[:levels]) + "/"
    dropped.put(**{"job.json": template(), f"{folder}train.py": b""})
    assert ((await dropped.plans(folder)).runs != ()) is result


async def test_the_nearest_template_counts_and_no_more_is_asked_for(dropped: Dropped) -> None:
    dropped.put(**{"job.json": template("<SLIPWAY_SCRIPT:x.py>"), "a/job.json": template(), "a/b/y.py": b""})
    assert await dropped.runs("a/b/") == [("a/job.json", "a/b/y.py")]
    assert dropped.drops.sought == ["a/job.json"]


async def test_at_the_top_the_search_ends(dropped: Dropped) -> None:
    dropped.put(**{"a/b/train.py": b""})
    assert (await dropped.plans("a/b/")).waits
    assert dropped.drops.sought == ["a/job.json", "job.json"]
