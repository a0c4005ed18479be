"""HTTP triggers and the host's own endpoints; the same through both runtimes."""

import json
from collections.abc import AsyncIterator

import pytest

from tests.contract.host.world import ANY_RUNTIME, Host, Storage, environment_of, running

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_route_parameters_and_query_reach_the_function(host: Host) -> None:
    async with host.http.get(f"{host.url}/api/items/7/a%20b?q=1&q=2") as response:
        assert response.status == 200
        assert response.headers["X-Seen"] == "yes"
        assert response.content_type == "application/json"
        assert await response.json() == {"id": "7", "rest": "a b", "q": {"q": "1,2"}}


async def test_an_optional_parameter_may_be_left_out(host: Host) -> None:
    async with host.http.get(f"{host.url}/api/items/7") as response:
        assert await response.json() == {"id": "7", "rest": None, "q": {}}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/items/7/a%0Ab", 200),
        ("GET", "/api/items/seven", 404),
        ("GET", "/api/nothing", 404),
        ("GET", "/items/7", 404),
        ("POST", "/api/items/7", 404),
        ("HEAD", "/api/items/7", 404),
        ("OPTIONS", "/api/items/7", 404),
        ("OPTIONS", "/api/nothing", 404),
        ("GET", "/admin/nothing", 404),
    ],
)
async def test_a_request_finds_its_function_or_404(host: Host, method: str, path: str, status: int) -> None:
    assert await host.status(method, path) == status


@pytest.mark.parametrize("path", ["/api/items/7", "/api/echo", "/api/nothing"])
async def test_a_page_that_asks_whether_it_may_call_gets_no_leave(host: Host, path: str) -> None:
    """The preflight request of a browser; the answer without its headers is a refusal."""
    headers = {"Origin": host.url, "Access-Control-Request-Method": "GET"}
    async with host.http.options(f"{host.url}{path}", headers=headers) as response:
        assert response.status == 204
        assert not [name for name in response.headers if name.startswith("Access-Control-")]
    assert await host.status("OPTIONS", "/api/nothing", headers={"Origin": host.url}) == 404


async def test_bytes_and_cookies_come_back_as_they_were(host: Host) -> None:
    async with host.http.post(f"{host.url}/api/echo", data=b"\x00\xff{}") as response:
        assert response.status == 201
        assert await response.read() == b"\x00\xff{}"
        assert sorted(response.cookies) == ["a", "b"]
        assert response.cookies["a"]["httponly"]
        assert response.cookies["b"]["max-age"] == "60"
        assert response.cookies["b"]["samesite"] == "lax"


async def test_a_body_that_comes_in_chunks_does_not_reach_the_function(host: Host) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"ab"
        yield b"c"

    async with host.http.post(f"{host.url}/api/echo", data=pieces()) as response:
        assert response.request_info.headers["Transfer-Encoding"] == "chunked"
        assert (response.status, await response.read()) == (201, b"")


async def test_an_answer_comes_in_chunks_without_its_length(host: Host) -> None:
    async with host.http.get(f"{host.url}/api/items/5") as response:
        assert "Content-Length" not in response.headers
        assert response.headers["Transfer-Encoding"] == "chunked"
        assert (await response.json())["id"] == "5"


async def test_an_exception_is_an_empty_500(host: Host) -> None:
    async with host.http.get(f"{host.url}/api/broken") as response:
        assert response.status == 500
        assert await response.read() == b""


async def test_keys_are_not_asked_for_by_default(host: Host) -> None:
    async with host.http.get(f"{host.url}/api/settings/FAN_QUEUE") as response:
        assert (response.status, await response.text()) == (200, "fan")


async def test_the_admin_endpoints_tell_the_state_and_the_functions(host: Host) -> None:
    async with host.http.get(f"{host.url}/admin/host/status") as response:
        status = await response.json()
    async with host.http.get(f"{host.url}/admin/functions") as response:
        functions = {f["name"]: f for f in await response.json()}

    assert (status["id"], status["state"]) == ("conformance", "Running")
    assert functions["switched_off"]["isDisabled"] is True
    assert functions["item"]["invoke_url_template"] == f"{host.url}/api/items/{{id:int}}/{{rest?}}"
    assert functions["work"]["config"]["bindings"][0]["type"] in ("queueTrigger", "queue")


async def test_only_functions_that_are_not_http_run_by_hand(host: Host) -> None:
    assert await host.fire("no-such-function") == 404
    assert await host.fire("item") == 400
    assert await host.fire("work", '{"do":"by hand"}') == 202
    [answer] = await host.storage.take("done", lambda t: "by hand" in t)
    observation = json.loads(answer)
    assert (observation["attempt"], observation["inserted"], len(observation["id"])) == (0, True, 36)


async def test_keys_open_what_their_level_allows(storage: Storage) -> None:
    keys = {"LOCAL_HOST_FUNCTION_KEY": "of-functions", "LOCAL_HOST_MASTER_KEY": "of-all"}
    keys["LOCAL_HOST_BLOBS_KEY"] = "of-events"
    env = environment_of(storage, **keys, **{"AzureFunctionsWebHost__hostid": "with-keys"})

    async with running(ANY_RUNTIME, storage, arguments=["--enable-auth"], environment=env) as host:

        async def status(path: str, header: str | None = None, method: str = "GET") -> int:
            headers = {"x-functions-key": header} if header else {}
            return await host.status(method, path, headers=headers)

        assert await status("/api/items/1") == 200
        assert await status("/api/echo", method="POST") == 401
        assert await status("/api/echo", "of-functions", method="POST") == 201
        assert await status("/api/echo?code=of-functions", method="POST") == 201
        assert await status("/api/echo?code=of-functions", "wrong", method="POST") == 401
        assert await status("/api/settings/FAN_QUEUE", "of-functions") == 401
        assert await status("/api/settings/FAN_QUEUE", "of-all") == 200
        assert await status("/admin/functions") == 401
        assert await status("/admin/functions", "of-all") == 200
        assert await status("/admin/functions", "of-events") == 401
        assert await status("/api/echo", "of-events", method="POST") == 401
        events = "/runtime/webhooks/blobs?functionName=Host.Functions.announced"
        for key, code in (
            ("", 401),
            ("wrong", 401),
            ("of-functions", 403),
            ("of-events", 400),
            ("of-all", 400),
        ):
            assert await status(f"{events}&code={key}", method="POST") == code
        assert not [line for line in host.process.recent if "of-functions" in line or "of-all" in line]
