"""What people ask of the files that a job wrote."""

from __future__ import annotations

import re

import pytest

from confined.names import Names
from shared.core.engine import FileChunk, OutputFile
from shared.core.errors import Misuse, Rejected, Transient
from shared.core.job import Job, JobState
from shared.lifecycle.archive import archive
from shared.operate.files import output
from shared.operate.files.output import Span
from shared.operate.files.stored_receipt import receipt_of
from shared.operate.files.zipped import zipped
from tests.unit.world import World, job_json


async def running(world: World, **files: bytes) -> Job:
    """A job that runs and has written these files, `_` for `.` in their names."""
    job = (await world.message(job_json())).job
    world.engine.output |= {name.replace("_", "."): data for name, data in files.items()}
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass()
    return job


async def test_a_log_goes_on_where_it_stopped_and_ends_with_the_job(world: World) -> None:
    job = (await world.message(job_json())).job.id
    world.engine.output["stdout.txt"] = b"one\n"
    name, chunk, more = await output.log(world.ports, job, None, "0")
    assert (name, chunk.data, more) == ("stdout.txt", b"one\n", True)

    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    _, chunk, more = await output.log(world.ports, job, None, str(chunk.next))
    assert (chunk.data, more) == (b"", False)


async def test_a_job_that_no_node_has_seen_has_no_log(world: World) -> None:
    job = (await world.message(job_json(nodeCount=0))).job
    with pytest.raises(Misuse) as caught:
        await output.log(world.ports, job.id, None, "0")
    assert caught.value.status == 409


async def test_a_directory_that_the_job_does_not_have_is_a_404_with_those_it_has(world: World) -> None:
    models = {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}
    job = (await world.message(job_json(outputDirectories=[models]))).job

    with pytest.raises(Misuse) as caught:
        await output.files(world.ports, job.id, "nope", ".")

    assert (caught.value.status, str(caught.value)) == (404, 'no output directory "nope"')
    assert caught.value.remedy == "this job has stdouterr, MODEL"


@pytest.mark.parametrize("path", ["missing", "models/missing", "./missing/below/"])
async def test_a_folder_that_is_not_there_is_a_404_and_yet_is_said_only_of_a_job_that_may_write(
    world: World, path: str
) -> None:
    job = await running(world, stdout_txt=b"out")
    world.engine.output["models/best.bin"] = b"weights"

    with pytest.raises(Misuse) as before:
        await output.files(world.ports, job.id, "stdouterr", path)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    with pytest.raises(Misuse) as after:
        await output.files(world.ports, job.id, "stdouterr", path)

    assert (before.value.status, after.value.status) == (404, 404)
    assert str(before.value) == f"{after.value} yet"
    assert str(after.value).startswith("there is no folder stdouterr/")


async def test_a_file_has_no_list_and_an_empty_folder_has_an_empty_one(world: World) -> None:
    job = await running(world, stdout_txt=b"out")
    folder, last = OutputFile("empty", None, None), OutputFile("z", None, None)
    many = tuple(OutputFile(f"f{n}", 1, None) for n in range(2_500))
    world.engine.listed |= {".": (folder, OutputFile("stdout.txt", 3, None), *many, last)}

    with pytest.raises(Misuse, match=r"is a file, not a folder$"):
        await output.files(world.ports, job.id, "stdouterr", "stdout.txt")

    assert (await output.files(world.ports, job.id, "stdouterr", "empty")).files == ()
    assert (await output.files(world.ports, job.id, "stdouterr", "z")).files == ()


async def test_a_folder_that_may_be_among_what_no_list_holds_is_no_404(world: World) -> None:
    job = await running(world, stdout_txt=b"out")
    world.engine.listed |= {".": (OutputFile(Names().rest, None, None, left_out=True),)}

    assert (await output.files(world.ports, job.id, "stdouterr", "models")).files == ()


async def test_an_output_directory_in_which_nothing_lies_has_an_empty_list(world: World) -> None:
    job = await running(world)

    assert [(await output.files(world.ports, job.id, "stdouterr", path)).files for path in (".", "")] == [
        (),
        (),
    ]


async def test_a_whole_file_is_read(world: World) -> None:
    job = await running(world, model_bin=b"weights", empty_txt=b"")

    whole = await output.content(world.ports, job.id, "stdouterr", "model.bin")
    empty = await output.content(world.ports, job.id, "stdouterr", "empty.txt")

    assert (whole.data, whole.next, whole.size) == (b"weights", 7, 7)
    assert (empty.data, empty.size) == (b"", 0)


@pytest.mark.parametrize(
    ("span", "data"),
    [
        (Span(0, 0), b"w"),
        (Span(2, 4), b"igh"),
        (Span(4, None), b"hts"),
        (Span(4, 999), b"hts"),
        (Span(None, 2), b"ts"),
        (Span(None, 99), b"weights"),
        (Span(None, 0), b""),
        (Span(7, 9), b""),
        (Span(99, None), b""),
    ],
)
async def test_a_span_of_a_file_is_read_with_the_size_of_the_whole(
    world: World, span: Span, data: bytes
) -> None:
    job = await running(world, model_bin=b"weights")

    result = await output.content(world.ports, job.id, "stdouterr", "model.bin", span)

    assert (result.data, result.size) == (data, 7)


async def test_a_file_that_no_answer_can_hold_is_read_in_spans(world: World) -> None:
    job = await running(world, model_bin=b"weights")

    async def read(span: Span | None = None) -> FileChunk:
        return await output.content(world.ports, job.id, "stdouterr", "model.bin", span, most=4)

    with pytest.raises(Misuse, match="7 bytes") as refused:
        await read()
    first = await read(Span(0, None))
    rest = await read(Span(first.next, 99))
    late = await read(Span(None, 6))

    assert refused.value.status == 413
    assert "slipway download" in refused.value.remedy
    assert (first.data, rest.data, late.data) == (b"weig", b"hts", b"eigh")


async def test_yet_is_said_only_of_a_job_that_may_still_write(world: World) -> None:
    job = await running(world)
    with pytest.raises(Misuse, match=r"there is no stdouterr/model\.bin yet$") as early:
        await output.content(world.ports, job.id, "stdouterr", "model.bin")

    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    with pytest.raises(Misuse, match=r"there is no stdouterr/model\.bin$") as late:
        await output.content(world.ports, job.id, "stdouterr", "model.bin")
    with pytest.raises(Misuse, match=r"there is no stdouterr/model\.bin$"):
        await output.log(world.ports, job.id, "model.bin", "0")
    assert (early.value.status, late.value.status) == (404, 404)


@pytest.mark.parametrize("path", ["", ".", "./", "/"])
async def test_a_file_has_a_name(world: World, path: str) -> None:
    job = await running(world)
    with pytest.raises(Misuse) as refused:
        await output.content(world.ports, job.id, "stdouterr", path)
    assert refused.value.status == 400
    assert refused.value.remedy


async def test_the_output_directories_of_a_job_are_listed(world: World) -> None:
    models = {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs", "pathSuffix": "m"}
    job = (await world.message(job_json(outputDirectories=[models]))).job

    result = await output.outputs(world.ports, job.id)

    assert [(one["id"], one["files"]) for one in result] == [
        ("stdouterr", f"/api/jobs/{job.id}/files?directory=stdouterr"),
        ("MODEL", f"/api/jobs/{job.id}/files?directory=MODEL"),
    ]


async def test_what_a_job_saved_is_listed_among_its_outputs_once_there_is_something(world: World) -> None:
    job = await running(world)
    assert [one["id"] for one in await output.outputs(world.ports, job.id)] == ["stdouterr"]

    for saved, ids in (({}, ["stdouterr"]), ({"step": b"7"}, ["stdouterr", "saved"])):
        world.engine.saved[job.id] = saved
        result = await output.outputs(world.ports, job.id)
        assert [one["id"] for one in result] == ids

    assert result[-1] == {
        "id": "saved",
        "path": "$SLIPWAY_SAVED",
        "files": f"/api/jobs/{job.id}/files?directory=saved",
    }
    assert (await output.content(world.ports, job.id, "saved", "step")).data == b"7"


@pytest.mark.parametrize("way", ["refuses", "hangs"])
async def test_a_cluster_that_does_not_answer_keeps_no_list_of_outputs(world: World, way: str) -> None:
    job = await running(world)
    world.policy(metrics_patience=0.0)
    if way == "hangs":
        world.engine.hangs.add("files")
    else:
        world.engine.refuses["files"] = Transient("down")

    assert [one["id"] for one in await output.outputs(world.ports, job.id)] == ["stdouterr"]


async def test_the_files_of_an_archived_job_are_where_its_job_file_says(world: World) -> None:
    job = await running(world, stdout_txt=b"out")
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.pass_time(31 * 86_400)
    assert (await archive(world.ports)).jobs == 1

    for request in (
        output.log(world.ports, job.id, None, "0"),
        output.files(world.ports, job.id, "stdouterr", "."),
        output.content(world.ports, job.id, "stdouterr", "stdout.txt"),
    ):
        with pytest.raises(Misuse, match="the job is archived, and dev has forgotten it") as caught:
            await request
        assert caught.value.status == 404
        assert "shares and containers" in caught.value.remedy


async def test_the_receipt_is_the_one_in_the_container_of_receipts(world: World) -> None:
    job = await running(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    (name,) = [name for name in world.drops.receipt_files if name.endswith("receipt.json")]

    assert await receipt_of(world.ports, job.id) == world.drops.receipt_files[name]

    del world.drops.receipt_files[name]
    with pytest.raises(Misuse, match=r"there is no receipt") as absent:
        await receipt_of(world.ports, job.id)
    assert absent.value.status == 404


@pytest.mark.parametrize("body", [b'{"id": "j_anothers"}', b"{}", b"[]", b"running", b"\xff"])
async def test_what_is_not_the_job_s_own_receipt_is_not_shown_as_its_receipt(
    world: World, body: bytes
) -> None:
    job = await running(world)
    await world.drops.put_receipt_file(f"{job.receipt}/receipt.json", body, replace=True)
    with pytest.raises(Misuse, match=f"is not the receipt of {job.id}") as another:
        await receipt_of(world.ports, job.id)
    assert another.value.status == 404


async def test_only_of_a_job_that_may_still_write_is_it_said_that_something_is_not_there_yet(
    world: World,
) -> None:
    job = await running(world)
    with pytest.raises(Misuse, match="yet"):
        await output.content(world.ports, job.id, "stdouterr", "model.bin")
    assert (await output.log(world.ports, job.id, None, "0"))[1].data == b""

    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()

    with pytest.raises(Misuse) as no_file:
        await output.content(world.ports, job.id, "stdouterr", "model.bin")
    with pytest.raises(Misuse) as no_log:
        await output.log(world.ports, job.id, None, "0")
    assert "yet" not in f"{no_file.value} {no_log.value}"


async def test_a_path_is_whole_once_the_cluster_has_named_it(world: World) -> None:
    job = await running(world)
    assert (await output.outputs(world.ports, job.id))[0]["path"] == "$AZ_BATCHAI_MOUNT_ROOT/logs"

    observation = world.engine.jobs[world.engine.started[-1]]
    named = observation._replace(state=JobState.SUCCEEDED, segment="s/jobs/n/1")
    world.engine.jobs[world.engine.started[-1]] = named
    await world.make_pass()

    (one,) = await output.outputs(world.ports, job.id)
    assert one["path"] == "$AZ_BATCHAI_MOUNT_ROOT/logs/s/jobs/n/1/stdouterr"


async def test_a_name_that_the_cluster_refuses_is_no_cluster_that_does_not_answer(world: World) -> None:
    job = await running(world)
    refusal = Rejected("400 InvalidParameter Is not the name of a directory.")
    world.engine.refuses |= {"files": refusal, "read": refusal}
    for ask in (output.files, output.content, zipped):
        with pytest.raises(Misuse, match="InvalidParameter") as caught:
            await ask(world.ports, job.id, "stdouterr", "odd")
        assert caught.value.status == 404


async def test_a_file_whose_name_has_nothing_but_points_is_one(world: World) -> None:
    job = await running(world)
    world.engine.output["..."] = b"data"

    assert (await output.content(world.ports, job.id, "stdouterr", "...")).data == b"data"


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("deep", 404, "stdouterr/deep is a directory"),
        ("deep/", 404, "stdouterr/deep/ ends with a slash, as the path of no file does"),
        ("deep/a.txt/", 404, "stdouterr/deep/a.txt/ ends with a slash, as the path of no file does"),
        ("no/such/a.txt", 404, "there is no stdouterr/no/such/a.txt yet"),
        ("../a.txt", 400, "the path leads out of the output directory"),
        ("a/../../b", 400, "the path leads out of the output directory"),
        ("//a", 400, "the path leads out of the output directory"),
        ("esc\x1b[2J", 400, "the path esc\\x1b[2J has the control character U+001B"),
        ("back\\slash", 400, "the path back\\\\slash has a backslash"),
    ],
)
async def test_why_a_path_has_no_file_is_said_truly(
    world: World, path: str, status: int, reason: str
) -> None:
    job = await running(world)
    world.engine.output["deep/a.txt"] = b"a"

    with pytest.raises(Misuse, match=f"^{re.escape(reason)}") as caught:
        await output.content(world.ports, job.id, "stdouterr", path)

    assert caught.value.status == status


async def test_a_log_that_is_a_directory_is_none_and_not_waited_for(world: World) -> None:
    job = await running(world)
    world.engine.output["deep/a.txt"] = b"a"

    with pytest.raises(Misuse, match="stdouterr/deep is a directory"):
        await output.log(world.ports, job.id, "deep", "0")
