"""Files over HTTP: ranges, validators, and what a browser may do with them (RFC 9110)."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Awaitable, Callable
from urllib.parse import quote, unquote

import azure.functions as func
import pytest

from local.host.routes import parse_route
from local.host.triggers.target import target_of
from shared.core.engine import OutputFile
from shared.core.job import JobState
from tests.breadth import one_each
from tests.names import each, kind_of, tree
from tests.unit.functions.calls import call, use
from tests.unit.routes import ROUTES
from tests.unit.world import World, job_json

BODY = b"0123456789"
Get = Callable[..., Awaitable[func.HttpResponse]]


@pytest.fixture
async def get(world: World, monkeypatch: pytest.MonkeyPatch) -> Get:
    """GET of a file of a running job, with headers."""
    use(world, monkeypatch)
    job = (await world.message(job_json())).job
    world.engine.output |= {"digits.bin": BODY, "page.html": b"<script>", "empty": b""}
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()

    async def request(path: str = "digits.bin", **headers: str) -> func.HttpResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        route = {"id": job.id, "directory": "stdouterr", "path": path}
        url = f"/api/jobs/{job.id}/files/stdouterr/{quote(path)}"
        answer: func.HttpResponse = await ROUTES["get_file"](
            func.HttpRequest(method="GET", url=url, headers=named, route_params=route, body=b"")
        )
        return answer

    return request


async def test_a_file_comes_whole_with_its_digest_and_as_an_attachment(get: Get) -> None:
    result = await get()

    assert (result.status_code, result.get_body()) == (200, BODY)
    assert result.headers["Accept-Ranges"] == "bytes"
    digest = base64.b64encode(hashlib.sha256(BODY).digest()).decode()
    assert result.headers["Content-Digest"] == f"sha-256=:{digest}:"
    assert result.headers["Content-Disposition"].startswith('attachment; filename="digits.bin"')
    assert "Content-Range" not in result.headers


@pytest.mark.parametrize(
    ("path", "name", "data"),
    [
        ("models%2Fa%2fb.bin", "b.bin", b"below"),
        ("models/a%2Fb.bin", "b.bin", b"below"),
        ("50%2F50.txt", "50%2F50.txt", b"literal"),
    ],
)
async def test_a_path_whose_slashes_are_encoded_is_looked_for_both_ways(
    get: Get, world: World, path: str, name: str, data: bytes
) -> None:
    world.engine.output |= {"models/a/b.bin": b"below", "50%2F50.txt": b"literal", "50/50.txt": b"other"}

    result = await get(path)

    assert (result.status_code, result.get_body()) == (200, data)
    assert result.headers["Content-Disposition"].endswith(f"filename*=UTF-8''{quote(name, safe='')}")


_ROUTE = parse_route("jobs/{id}/files/{directory}/{*path}")
#: Names of which one part is an escape that another part's slash would be, too.
_MIXED = ("a%2fb/c.txt", "a%2Fb/c%2Fd/e", "deep/er/a%2Fb/and/deep/er/still/c.txt", "%2F/%2F/%2f/x")


@pytest.mark.parametrize("slash", ["/", "%2F", "%2f"])
async def test_each_file_of_a_list_can_be_had_with_its_slashes_as_they_are_or_encoded(
    get: Get, world: World, slash: str
) -> None:
    """As the address arrives through the host, which decodes all but the slashes."""
    files = {**tree(one_each(each(), kind_of)), **{name: name.encode() for name in _MIXED}}
    world.engine.output |= files

    for name, data in files.items():
        spelt = slash.join(quote(part, safe="") for part in name.split("/"))
        target = target_of(f"/jobs/j_1/files/stdouterr/{spelt}")
        values = _ROUTE.match(target.path.removeprefix("/"))
        assert values is not None
        assert (await get(values["path"])).get_body() == data, spelt


async def test_a_path_of_many_escapes_is_not_looked_for_without_end(get: Get, world: World) -> None:
    assert (await get("a%2F" * 30 + "b")).status_code == 404

    paths = [query[3] for query in world.engine.queries if query[0] == "read"]
    assert len(set(paths)) == len(paths) == 32


@pytest.mark.parametrize("path", ["no%2Fsuch.txt", "..%2F..%2Fetc%2Fpasswd"])
async def test_a_path_that_leads_nowhere_both_ways_is_refused(get: Get, path: str) -> None:
    assert (await get(path)).status_code in (400, 404)


@pytest.mark.parametrize(
    ("range_header", "data", "range_"),
    [
        ("bytes=0-3", b"0123", "bytes 0-3/10"),
        ("bytes=8-", b"89", "bytes 8-9/10"),
        ("bytes=-2", b"89", "bytes 8-9/10"),
        ("bytes=5-99", b"56789", "bytes 5-9/10"),
    ],
)
async def test_a_range_is_answered_206(get: Get, range_header: str, data: bytes, range_: str) -> None:
    result = await get(Range=range_header)

    assert (result.status_code, result.get_body()) == (206, data)
    assert result.headers["Content-Range"] == range_


@pytest.mark.parametrize(
    "range_header", ["bytes=3-1", "bytes=0-1,4-5", "bytes=-", "lines=1-2", "bytes=a-b", "7"]
)
async def test_a_range_that_cannot_be_kept_gets_the_whole_file(get: Get, range_header: str) -> None:
    assert (await get(Range=range_header)).get_body() == BODY


@pytest.mark.parametrize("range_header", ["bytes=10-", "bytes=99-100", "bytes=-0"])
async def test_a_range_behind_the_end_is_416_with_the_size(get: Get, range_header: str) -> None:
    result = await get(Range=range_header)

    assert result.status_code == 416
    assert result.headers["Content-Range"] == "bytes */10"
    assert json.loads(result.get_body())["remedy"]


async def test_a_validator_changes_with_the_file(get: Get, world: World) -> None:
    tag = (await get()).headers["ETag"]
    assert (await get(Range="bytes=0-3")).headers["ETag"] == tag
    assert (await get(If_None_Match=f'"other", {tag}')).status_code == 304
    assert (await get(If_None_Match=f'"other", W/{tag}')).status_code == 304  # compared weakly
    assert (await get(If_None_Match='"other"')).status_code == 200
    assert (await get(If_Match=f"W/{tag}")).status_code == 412  # compared strongly
    assert (await get(If_Match=tag, Range="bytes=4-5")).status_code == 206
    assert (await get(If_Range=tag, Range="bytes=4-5")).status_code == 206

    world.engine.output["digits.bin"] = b"another"

    assert (await get()).headers["ETag"] != tag
    changed = await get(If_Match=tag, Range="bytes=4-5")
    assert (changed.status_code, json.loads(changed.get_body())["title"]) == (412, "Changed")
    whole = await get(If_Range=tag, Range="bytes=4-5")
    assert (whole.status_code, whole.get_body()) == (200, b"another")


async def test_no_browser_runs_what_a_job_wrote(get: Get) -> None:
    result = await get("page.html")

    assert result.headers["Content-Disposition"].startswith("attachment")
    assert "sandbox" in result.headers["Content-Security-Policy"]
    assert result.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_name_stays_a_name_in_the_header(get: Get, world: World) -> None:
    name = 'a";\u00fc x.txt'
    world.engine.output[name] = b"x"

    shown = (await get(name)).headers["Content-Disposition"]

    assert shown == "attachment; filename=\"a____x.txt\"; filename*=UTF-8''a%22%3B%C3%BC%20x.txt"


async def test_an_empty_file_is_a_file(get: Get) -> None:
    result = await get("empty")
    assert (result.status_code, result.get_body()) == (200, b"")


async def test_a_missing_file_is_404_with_the_directories_that_there_are(get: Get) -> None:
    result = await get("none.txt")
    problem = json.loads(result.get_body())
    assert (result.status_code, problem["detail"]) == (404, "there is no stdouterr/none.txt yet")
    assert "stdouterr" in problem["remedy"]


async def test_a_name_with_an_unusual_space_can_be_asked_for(get: Get, world: World) -> None:
    world.engine.output["loss\u00a0curve.png"] = b"x"
    assert (await get("loss\u00a0curve.png")).get_body() == b"x"


async def test_a_file_of_any_name_is_an_attachment_of_its_own_name(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    job = (await world.message(job_json())).job
    world.engine.output |= {name: name.encode() for name in each()}
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()

    for name in each():
        answer = await call("GET", f"/api/jobs/{job.id}/files/stdouterr/{quote(name)}")
        assert (answer.status_code, answer.get_body()) == (200, name.encode())
        plain, _, encoded = answer.headers["Content-Disposition"].partition("; filename*=UTF-8''")
        assert unquote(encoded) == name
        assert re.fullmatch(r'attachment; filename="[\w.-]+"', plain, re.ASCII)
        assert re.fullmatch(r"[\w.~%-]+", encoded, re.ASCII)  # RFC 8187


async def test_the_name_of_an_archive_fits_into_a_header_and_on_a_disk(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    job = (await world.message(job_json())).job
    path = "/".join(["\u00fc" * 120] * 9)
    world.engine.output[f"{path}/a.bin"] = b"a"
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()

    answer = await call("GET", f"/api/jobs/{job.id}/zip?path={quote(path)}")

    assert answer.status_code == 200
    name = answer.headers["Content-Disposition"].partition("filename*=UTF-8''")[2]
    assert unquote(name).startswith(f"{job.id}-stdouterr-\u00fc\u00fc")
    assert unquote(name).endswith("\u00fc.zip")
    assert len(unquote(name).encode()) <= 255


async def test_a_directory_comes_as_one_zip_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    use(world, monkeypatch)
    job = (await world.message(job_json())).job
    world.engine.output |= {"models/a.bin": b"a", "models/b.bin": b"b"}
    world.engine.listed["."] = (OutputFile("out", None, None, link=True), OutputFile("models", None, None))
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()

    whole = await call("GET", f"/api/jobs/{job.id}/zip")
    folder = await call("GET", f"/api/jobs/{job.id}/zip?path=models")
    nothing = await call("GET", f"/api/jobs/{job.id}/zip?directory=nope")

    with zipfile.ZipFile(io.BytesIO(whole.get_body())) as archive:
        assert archive.namelist() == ["stdouterr/models/a.bin", "stdouterr/models/b.bin"]
    assert (whole.status_code, whole.mimetype) == (200, "application/zip")
    assert (whole.headers["Slipway-Left-Out"], folder.headers["Slipway-Left-Out"]) == ("1", "0")
    name = f"{job.id}-stdouterr-models.zip"
    assert folder.headers["Content-Disposition"].startswith(f'attachment; filename="{name}"')
    assert nothing.status_code == 404
