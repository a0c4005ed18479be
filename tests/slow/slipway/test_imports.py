"""What a short command imports: what it needs, and nothing of what only other commands do."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from shared.answers.mark import MARK, MARKED
from tests.slow.project.test_cold_start import ROOT

#: What reads and checks a job file, and what asks a deployment.
READER = re.compile(
    r"shared(\.jobspec(\..+)?|\.intake(\.message|\.reading(\..+)?)?"
    r"|\.core(\.(errors|facts|identity|messages|refusals|teams(\.share)?))?)?"
)
ASKER = re.compile(r"shared(\.answers(\.mark)?|\.core(\.identity)?)?")
#: Modules of ours beside those of the command line's own start.
MOST = {"validate": 115, "jobs": 28}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of what the command is made of, beside which no local stack has left its settings."""
    for name in ("slipway", "shared", "local", "confined"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "examples" / "hello", tmp_path / "hello")
    return tmp_path


def modules(clone: Path, *arguments: str) -> set[str]:
    """All that a run of the command has imported at its end."""
    code = (
        "import sys, atexit, pathlib\n"
        "atexit.register(lambda: pathlib.Path('modules').write_text(' '.join(sys.modules)))\n"
        "from slipway.entry import main\n"
        "main()"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLIPWAY")}
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=clone,
        env={**environment, "HOME": str(clone), "PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    return set((clone / "modules").read_text(encoding="utf-8").split())


def test_a_file_is_checked_without_records_clusters_and_settings(clone: Path) -> None:
    start = modules(clone, "--help")
    more = modules(clone, "validate", "hello/job.json") - start

    ours = [name for name in more if name.startswith(("slipway", "shared", "local"))]
    assert [one for one in ours if one.startswith("shared") and not READER.fullmatch(one)] == []
    assert len(ours) <= MOST["validate"]
    assert not [name for name in more if name.startswith(("asyncio", "ssl", "http.client", "aiohttp"))]


def test_a_cluster_of_the_settings_is_known_to_the_check(clone: Path) -> None:
    stack = clone / ".local" / "up"
    stack.mkdir(parents=True)
    values = {
        "SLIPWAY_STORAGE": "UseDevelopmentStorage=true",
        "SLIPWAY_CLUSTERS": '{"a": {"engine": "batchai"}}',
    }
    (stack / "local.settings.json").write_text(json.dumps({"Values": values}), encoding="utf-8")

    assert "shared.configured" in modules(clone, "validate", "hello/job.json")


class _Jobs(BaseHTTPRequestHandler):
    """Slipway, as far as it lists jobs: it has none."""

    def do_GET(self) -> None:
        body = b'{"jobs": [], "next": null}'
        self.send_response(200)
        self.send_header(MARK, MARKED)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """The requests are of no interest."""


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Jobs) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_jobs_are_listed_without_settings_records_the_reader_of_files_and_an_http_client(
    clone: Path, url: str
) -> None:
    more = modules(clone, "jobs", "--url", url) - modules(clone, "--help")

    assert not [one for one in more if one.startswith(("aiohttp", "yarl", "asyncio", "multidict"))]

    ours = [name for name in more if name.startswith(("slipway", "shared", "local"))]
    assert [one for one in ours if one.startswith("shared") and not ASKER.fullmatch(one)] == []
    assert len(ours) <= MOST["jobs"]
