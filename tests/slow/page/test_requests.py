"""The page sends every body with its length, without which Azure Functions drops it."""

from __future__ import annotations

from local.setup.page import WEB

#: Browsers send a body in chunks only from a stream, and take a stream only with this option of `fetch`.
_STREAMED = ("duplex", "ReadableStream(")


def test_no_request_of_the_page_streams_its_body() -> None:
    sources = {file: file.read_text(encoding="utf-8") for file in (WEB / "src").rglob("*.ts*")}
    assert any("fetch(" in text for text in sources.values())

    assert [file.name for file, text in sources.items() if any(word in text for word in _STREAMED)] == []
