"""What the commands say about the API's answers."""

import pytest
from aiohttp import web

from slipway.client.calls.refusal import Changed, Stranger, Unanswered
from slipway.client.service import service
from slipway.failure import Failure
from tests.doubles.server import answering, as_slipway


async def test_a_refusal_shows_each_place_in_the_file_its_remedy_and_the_job() -> None:
    async def answer(request: web.Request) -> web.Response:
        error: dict[str, object] = {"severity": "error", "code": "SW010", "pointer": "/x", "message": "wrong"}
        error |= {"remedy": "mend it", "line": 2, "column": 3, "source": '  "x": 1', "caret": 2, "width": 3}
        error["file"] = "message"
        document = {"detail": "it cannot run", "remedy": "send it again", "errors": [error], "jobId": "j_1"}
        return web.json_response(document, status=422, content_type="application/problem+json")

    async with answering(as_slipway(answer)) as url, service(url) as api:
        with pytest.raises(Failure) as refused:
            await api.submit(b"{}", file="mine.json")

    assert str(refused.value).splitlines() == [
        "it cannot run; send it again",
        "mine.json:2:3: error SW010 x: wrong",
        '  |   "x": 1',
        "  |   ^^^",
        "    mend it · docs/rules/SW010.md",
        "its record: slipway show j_1",
    ]


@pytest.mark.parametrize("job", ["", "../health", "..", "a/b", "j_1?x", "j 1"])
async def test_what_is_no_id_never_becomes_a_path(job: str) -> None:
    async with service("http://127.0.0.1:9") as api:
        for ask in (api.job, api.cancel, api.log, api.events, api.redeliver, api.redrive):
            with pytest.raises(Failure, match="is not an id; `slipway "):
                await ask(job)


async def test_a_remedy_names_the_command_instead_of_the_call() -> None:
    async def answer(request: web.Request) -> web.Response:
        document = {"detail": "there is no job j_1", "remedy": "list the jobs: GET /api/jobs"}
        return web.json_response(document, status=404, content_type="application/problem+json")

    async with answering(as_slipway(answer)) as url, service(url) as api:
        with pytest.raises(Failure, match=r"^there is no job j_1; list the jobs: `slipway jobs`$"):
            await api.job("j_1")


async def test_an_address_that_is_not_of_slipway_says_so() -> None:
    async def absent(request: web.Request) -> web.Response:
        return web.Response(status=404, text="<html>")

    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<html>", content_type="text/html")

    async with answering(as_slipway(absent)) as url, service(f"{url}/api") as api:
        with pytest.raises(Failure, match=r"/api is not Slipway's API \(404\); give --url without /api"):
            await api.jobs()
    async with answering(as_slipway(page)) as url, service(url) as api:
        with pytest.raises(Failure, match="something else answers there"):
            await api.jobs()


@pytest.mark.parametrize("url", ["127.0.0.1:7071", "ftp://127.0.0.1", "http://"])
async def test_an_address_that_is_none_is_reported_in_words(url: str) -> None:
    async with service(url) as api:
        with pytest.raises(Failure, match="it is not an address of the form http://HOST:PORT"):
            await api.jobs()


async def test_a_key_is_sent_and_its_absence_is_explained() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.headers.get("x-functions-key") != "right":
            return web.Response(status=401)
        return web.json_response({"jobs": []})

    async with answering(as_slipway(answer)) as url:
        async with service(url, "right\r\n") as api:
            assert (await api.jobs()).jobs == []
        async with service(url) as api:
            with pytest.raises(Failure, match="SLIPWAY_KEY"):
                await api.jobs()
        with pytest.raises(Failure, match="control characters"):
            async with service(url, "ri\rght"):
                pass


async def test_an_answer_that_is_no_problem_document_is_reported_by_its_status() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=502, text="<html>")

    async with answering(as_slipway(answer)) as url, service(url) as api:
        with pytest.raises(Failure, match="502 Bad Gateway"):
            await api.clusters()


async def test_no_answer_is_reported_with_the_url() -> None:
    async def answer(request: web.Request) -> web.Response:
        raise AssertionError

    async with answering(as_slipway(answer)) as url:
        pass  # no one listens there any more

    async with service(url) as api:
        with pytest.raises(Failure, match=f"no answer from {url}: nothing listens there; .*slipway up"):
            await api.jobs()


async def test_more_jobs_than_a_page_holds_come_in_pages() -> None:
    async def answer(request: web.Request) -> web.Response:
        first, count = int(request.query.get("after", "0")), int(request.query["limit"])
        jobs = [{"id": f"j_{number}"} for number in range(first, min(first + count, 300))]
        return web.json_response({"jobs": jobs, "next": str(first + count) if first + count < 300 else None})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        some = await api.jobs(limit=250)
        assert [job["id"] for job in some.jobs] == [f"j_{number}" for number in range(250)]
        assert some.next == "250"
        every = await api.jobs(limit=1000)
        assert (len(every.jobs), every.next) == (300, None)


async def test_a_page_that_was_cut_short_is_followed_by_the_next_with_the_same_conditions() -> None:
    resources: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        resources.append(dict(request.query))
        if len(resources) < 3:
            searched = "2026-01-01T00:00:00Z"
            return web.json_response({"jobs": [], "next": str(len(resources)), "searchedTo": searched})
        return web.json_response({"jobs": [{"id": "j_1"}], "next": None})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        result = await api.jobs({"label": "team=a&b", "since": "2026-01-01T00:00:00+01:00"}, limit=5)
    assert [job["id"] for job in result.jobs] == ["j_1"]
    assert {(one["label"], one["since"], one["limit"]) for one in resources} == {
        ("team=a&b", "2026-01-01T00:00:00+01:00", "5")
    }
    assert [one.get("after") for one in resources] == [None, "1", "2"]


@pytest.mark.parametrize(
    ("status", "content_range"),
    [
        (206, "bytes 0-3/10"),  # not where it was to begin
        (206, "bytes 4-99/10"),
        (206, "bytes 4-4/10"),  # less than was sent
        (206, "pages 4-7/10"),
        (206, ""),
    ],
)
async def test_bytes_that_were_not_asked_for_are_refused(status: int, content_range: str) -> None:
    async def answer(request: web.Request) -> web.Response:
        headers = {"Content-Range": content_range} if content_range else {}
        return web.Response(status=status, body=b"4567", headers=headers)

    async with answering(as_slipway(answer)) as url, service(url) as api:
        with pytest.raises(Failure, match="the service sent"):
            await api.content("j_1", "OUT", "a.bin", 4, 7)


@pytest.mark.parametrize(
    ("body", "part"), [(b"0123456789", b"4567"), (b"01234", b"4"), (b"0123", None), (b"", None)]
)
async def test_a_whole_file_in_place_of_a_part_is_cut_and_a_shorter_one_has_changed(
    body: bytes, part: bytes | None
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/octet-stream")

    async with answering(as_slipway(answer)) as url, service(url) as api:
        if part is None:
            with pytest.raises(Changed, match=f"has {len(body)} bytes, none of them from 4 on"):
                await api.content("j_1", "OUT", "a.bin", 4, 7)
        else:
            chunk = await api.content("j_1", "OUT", "a.bin", 4, 7)
            assert (chunk.data, chunk.size) == (part, len(body))


async def test_a_range_beyond_the_end_says_that_the_file_has_changed() -> None:
    async def answer(request: web.Request) -> web.Response:
        problem = {"detail": "the file has 4 bytes, none of them in this range"}
        return web.json_response(problem, status=416, content_type="application/problem+json")

    async with answering(as_slipway(answer)) as url, service(url) as api:
        with pytest.raises(Changed, match="none of them in this range"):
            await api.content("j_1", "OUT", "a.bin", 4, 7)


async def test_a_part_that_ended_too_early_is_asked_for_again() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=206, body=b"456", headers={"Content-Range": "bytes 4-7/10"})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        with pytest.raises(Unanswered, match="a part of a file ended too early"):
            await api.content("j_1", "OUT", "a.bin", 4, 7)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"files": {}},
        {"files": ["a"]},
        {"files": [{"name": 1, "bytes": 1, "modified": None}]},
        {"files": [{"name": "a", "bytes": "1", "modified": None}]},
        {"files": [{"name": "a", "bytes": -1, "modified": None}]},
        {"files": [{"name": "a", "bytes": 1, "modified": "yesterday"}]},
    ],
)
async def test_a_list_of_files_that_is_none_is_a_failure(body: object) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(body)

    async with answering(as_slipway(answer)) as url, service(url) as api:
        with pytest.raises(Failure, match="answer"):
            await api.files("j_1", "OUT")


async def test_a_large_folder_comes_in_pages_each_asked_for_again_where_none_comes() -> None:
    pages = {"": (["a", "b"], "b"), "b": (["c"], "ü/é"), "ü/é": (["d"], None)}
    places: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        places.append(request.query.get("after", ""))
        names, following = pages[places[-1]]
        if places == ["", "b"]:
            return web.Response(text="half of a")
        files = [{"name": name, "bytes": 1, "modified": None} for name in names]
        return web.json_response({"files": files, "next": following})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        files = await api.files("j_1", "OUT")

    assert [file["name"] for file in files] == ["a", "b", "c", "d"]
    assert places == ["", "b", "b", "ü/é"]


async def test_the_results_of_a_job_leave_out_what_it_saved_for_a_next_attempt() -> None:
    async def answer(request: web.Request) -> web.Response:
        places = {"stdouterr": "/logs", "saved": "/models", "saved_": "$SLIPWAY_SAVED"}
        return web.json_response({"outputs": [{"id": name, "path": path} for name, path in places.items()]})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        assert await api.outputs("j_1") == ["stdouterr", "saved", "saved_"]
        assert await api.results("j_1") == ["stdouterr", "saved"]


@pytest.mark.parametrize("following", ["a", 7])
async def test_a_list_of_files_without_an_end_is_a_failure(following: object) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"files": [], "next": following})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        with pytest.raises(Failure, match="never ends"):
            await api.files("j_1", "OUT")


async def test_an_answer_that_lacks_what_is_asked_for_is_a_failure() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"other": 1})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        for ask in (api.jobs, api.clusters, api.dead, lambda: api.outputs("j_1"), lambda: api.events("j_1")):
            with pytest.raises(Failure, match="the service's answer lacks "):
                await ask()


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (400, Stranger, "answered 400 Bad Request, but not as Slipway does; does --url name it?"),
        (500, Unanswered, "answered 500 Internal Server Error; try again, or ask its operator"),
        (502, Unanswered, "answered 502 Bad Gateway; try again, or ask its operator"),
        (503, Unanswered, "answered 503 Service Unavailable; try again, or ask its operator"),
    ],
)
async def test_a_page_of_what_stands_before_the_app_is_an_answer_to_ask_for_again(
    status: int, kind: type[Failure], words: str
) -> None:
    async def page(_: web.Request) -> web.Response:
        return web.Response(status=status, text="<html>", content_type="text/html")

    async with answering(as_slipway(page)) as url, service(url) as api:
        with pytest.raises(Failure) as refused:
            await api.job("j_1")

    assert (type(refused.value), str(refused.value)) == (kind, f"{url} {words}")


async def test_a_path_that_is_too_long_for_an_address_is_said_to_be() -> None:
    """A web server refuses it before it asks Slipway: the test's as well."""
    path = "/".join(["\u00fc" * 120] * 12)

    async def unasked(_: web.Request) -> web.Response:
        raise AssertionError

    async with answering(as_slipway(unasked)) as url, service(url) as api:
        for ask in (api.content("j_1", "MODEL", path), api.files("j_1", "MODEL", path)):
            with pytest.raises(Failure, match=r"the path is too long to ask for: .* copy the file"):
                await ask


async def test_a_redirect_is_named_without_its_query_and_as_url_takes_it() -> None:
    async def elsewhere(request: web.Request) -> web.Response:
        return web.Response(
            status=302, headers={"Location": f"https://new.example{request.path}?code=secret"}
        )

    async with answering(as_slipway(elsewhere)) as url, service(url) as api:
        with pytest.raises(
            Failure, match=r"redirects to https://new\.example; if that is the app, give it with"
        ):
            await api.job("j_1")
