"""The page's files over HTTP: which there are, how long a browser keeps them, and what they may do there."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import azure.functions as func
import pytest

from functions import page
from shared.adapters.entra import EntraTokens
from tests.unit.functions.calls import call, use
from tests.unit.world import World

SCRIPT = b"console.log(1)"


@pytest.fixture(autouse=True)
def built(tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    use(world, monkeypatch)
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_bytes(b"<!doctype html>")
    (folder / "assets" / "main-abc.js").write_bytes(SCRIPT)
    (folder / "assets" / "inter-abc.woff2").write_bytes(b"wOF2")
    (folder / ".stamp").write_bytes(b"hidden")
    (tmp_path / "outside.txt").write_bytes(b"not of the page")
    monkeypatch.setattr(page, "FOLDER", folder)
    return folder


async def get(path: str, url: str = "", headers: Mapping[str, str] | None = None) -> func.HttpResponse:
    handler = page.get_page._function.get_user_function()
    answer: func.HttpResponse = await handler(
        func.HttpRequest(
            method="GET",
            url=url or f"https://example.com/api/ui/{path}",
            headers=dict(headers or {}),
            route_params={"path": path} if path else {},
            body=b"",
        )
    )
    return answer


async def test_the_document_is_checked_each_time_and_the_files_it_names_are_kept_for_good() -> None:
    document = await get("")
    asset = await get("assets/main-abc.js")

    assert (document.status_code, document.mimetype) == (200, "text/html")
    assert document.headers["Cache-Control"] == "no-cache"
    again = await get("", headers={"If-None-Match": document.headers["ETag"]})
    assert (again.status_code, again.get_body()) == (304, b"")
    assert (asset.status_code, asset.get_body()) == (200, SCRIPT)
    assert asset.mimetype == "text/javascript"
    assert "immutable" in asset.headers["Cache-Control"]


async def test_a_font_has_its_type_and_is_not_compressed_again() -> None:
    font = await get("assets/inter-abc.woff2", headers={"Accept-Encoding": "gzip"})

    assert (font.mimetype, font.get_body()) == ("font/woff2", b"wOF2")
    assert "Content-Encoding" not in font.headers


@pytest.mark.parametrize(
    ("path", "url", "status"),
    [
        ("", "", 200),
        ("assets/main-abc.js", "", 200),
        ("", "https://example.com/api/ui", 308),
        ("none.html", "", 404),
        ("../outside.txt", "", 404),
    ],
)
async def test_every_answer_of_the_page_is_kept_from_frames_and_guesses(
    path: str, url: str, status: int
) -> None:
    answer = await get(path, url)

    assert answer.status_code == status
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_nothing_foreign_and_nothing_inline_runs_and_no_one_frames_it() -> None:
    policy = (await get("")).headers["Content-Security-Policy"].split("; ")

    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "font-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert not [one for one in policy if "unsafe" in one or "http" in one or "*" in one]


@pytest.mark.parametrize(
    ("audience", "connect"),
    [
        ("api://slipway", "connect-src 'self'"),
        ("6f0c1c5e-0000-4000-8000-2b1d3a5c7e9f", "connect-src 'self' https://login.example"),
    ],
)
async def test_it_calls_the_authority_only_where_people_can_sign_in(
    world: World, audience: str, connect: str
) -> None:
    tokens = EntraTokens("https://login.example/", "tenant", ("api://other", audience))
    world.ports = replace(world.ports, tokens=tokens)

    policy = (await get("")).headers["Content-Security-Policy"].split("; ")

    assert [one for one in policy if one.startswith("connect-src")] == [connect]


async def test_a_refusal_says_where_people_can_sign_in(world: World) -> None:
    client = "6f0c1c5e-0000-4000-8000-2b1d3a5c7e9f"
    world.ports = replace(world.ports, tokens=EntraTokens("https://login.example", "tenant", (client,)))

    refused = await call("GET", "/api/me")

    assert refused.status_code == 401
    assert json.loads(refused.get_body())["signIn"] == {
        "authorize": "https://login.example/tenant/oauth2/v2.0/authorize",
        "token": "https://login.example/tenant/oauth2/v2.0/token",
        "issuer": "https://login.example/tenant/v2.0",
        "client": client,
        "scope": f"openid {client}/.default",
    }


async def test_an_address_without_its_slash_leads_to_the_one_with_it_also_behind_a_path() -> None:
    answer = await get("", url="https://example.com/team/api/ui")

    assert (answer.status_code, answer.headers["Location"]) == (308, "ui/")


@pytest.mark.parametrize("encodings", ["gzip, br", "br;q=1.0, GZIP;q=0.8, *;q=0.1"])
async def test_a_browser_gets_it_compressed(encodings: str) -> None:
    answer = await get("assets/main-abc.js", headers={"Accept-Encoding": encodings})

    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.get_body()) == SCRIPT
    plain = await get("assets/main-abc.js")
    assert plain.headers["ETag"] != answer.headers["ETag"]  # a strong one names these very bytes


@pytest.mark.parametrize("encodings", ["gzip;q=0", "br, gzip; q=0.000", "xgzip", "identity"])
async def test_who_refuses_compression_gets_the_file_as_it_is(encodings: str) -> None:
    answer = await get("assets/main-abc.js", headers={"Accept-Encoding": encodings})

    assert "Content-Encoding" not in answer.headers
    assert answer.get_body() == SCRIPT


@pytest.mark.parametrize("condition", ["{}", "W/{}", '"other", {}', '"other" ,W/{}', "*"])
@pytest.mark.parametrize("path", ["", "assets/main-abc.js"])
async def test_a_file_that_the_browser_has_is_not_sent_again(path: str, condition: str) -> None:
    """As behind a gateway, which makes validators weak."""
    tag = (await get(path)).headers["ETag"]

    again = await get(path, headers={"If-None-Match": condition.format(tag)})

    assert (again.status_code, again.get_body()) == (304, b"")
    assert (await get(path, headers={"If-None-Match": '"other"'})).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["../outside.txt", "assets/../../outside.txt", "/etc/passwd", ".stamp", "none.js", "assets", "a\0b"],
)
async def test_what_is_no_file_of_the_page_is_404(path: str) -> None:
    assert (await get(path)).status_code == 404


async def test_a_deployment_without_the_page_says_how_to_get_it(built: Path) -> None:
    (built / "index.html").unlink()

    answer = await get("")

    assert answer.status_code == 404
    assert b"make install" in answer.get_body()


@pytest.mark.parametrize("address", ["/api/health", "/api/ui/index.html", "/api/ui/assets/main-abc.js"])
async def test_a_probe_may_ask_for_the_headers_alone(address: str) -> None:
    answers = [await call(method, address) for method in ("GET", "HEAD")]

    first, second = ({**answer.headers, "status": answer.status_code} for answer in answers)
    assert first == second
    assert first["status"] == 200
    assert first["ETag"]
