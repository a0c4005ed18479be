"""What earlier jobs left in a container comes to a node whole, and nothing of it leads out of its place."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread

import pytest
from azure.storage.blob import ContainerClient

from local.azurite import Azurite
from shared.engines.launch.plan import keeping
from shared.engines.node.kept.bring import RANGE
from tests.contract.azurebatch.storage import Front, container, front

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Node:
    """A node with the directory of a run, and the container that has what earlier jobs left."""

    wire: Front
    client: ContainerClient
    root: Path

    def bring(self, *, share: int = 2, outage: float = 240.0) -> subprocess.CompletedProcess[str]:
        """The program before a run. It may take one part of so many of the free room.

        `outage`: seconds of its patience.
        """
        parts = f"RANGE, AT_ONCE, SHARE = {RANGE}, 4, {share}"
        text = keeping().replace("RANGE, AT_ONCE, SHARE = 16 << 20, 4, 2", parts)
        text = text.replace("ANSWER, OUTAGE = 20.0, 240.0", f"ANSWER, OUTAGE = 20.0, {outage}")
        before = [["c/files/e/n/r1/MODEL", "1/MODEL"], ["c/files/e/n/r1/none", "1/none"]]
        with TemporaryFile("w+") as place:
            json.dump({**self.wire.where, "prefix": "c/files/e/m", "before": before}, place)
            place.seek(0)
            return subprocess.run(
                [sys.executable, "-c", text, "bring"],
                env={"SLIPWAY_TEMP": str(self.root)},
                stdin=place,
                capture_output=True,
                text=True,
                check=False,
            )

    def put(self, name: str, content: bytes = b"", **metadata: str) -> None:
        self.client.upload_blob(f"c/files/e/n/r1/{name}", content, metadata=metadata)

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.root / "after").as_posix(): path.read_bytes()
            for path in (self.root / "after").rglob("*")
            if path.is_file()
        }


@pytest.fixture
def node(storage: Azurite, tmp_path: Path) -> Iterator[Node]:
    name = f"c{uuid.uuid4().hex}"
    client = container(storage, name)
    (tmp_path / "run").mkdir()
    with front(storage, name) as wire:
        yield Node(wire, client, tmp_path / "run")


async def test_files_of_any_size_come_whole_through_faults_with_their_mode(node: Node) -> None:
    content = os.urandom(RANGE + 1000)
    node.put("MODEL/deep/model.bin", content)
    node.put("MODEL/tool", b"#!/bin/sh\n", executable="true")
    node.put("MODEL/empty", hdi_isfolder="true")
    node.put("MODEL/nothing")
    node.put("MODELS/other", b"of another directory")
    node.wire.faults.extend([("GET", "comp=list", 503), ("GET", "model.bin", 500)])

    result = node.bring()

    assert result.returncode == 0, result.stderr
    expected = {"1/MODEL/deep/model.bin": content, "1/MODEL/tool": b"#!/bin/sh\n", "1/MODEL/nothing": b""}
    assert node.files() == expected
    assert (node.root / "after/1/MODEL/empty").is_dir()
    assert os.access(node.root / "after/1/MODEL/tool", os.X_OK)
    assert not os.access(node.root / "after/1/MODEL/nothing", os.X_OK)


async def test_nodes_that_share_their_directory_fetch_it_once(node: Node) -> None:
    node.put("MODEL/a", b"1")
    assert node.bring().returncode == 0
    node.client.delete_blob("c/files/e/n/r1/MODEL/a")

    assert node.bring().returncode == 0
    assert node.files() == {"1/MODEL/a": b"1"}


class _Hostile(BaseHTTPRequestHandler):
    """A container with the names that no client could write."""

    NAMES = ("../up", "a/../../up", "./dot", "a//b", "/etc/x", "x", "x/y", "tail/", "", "good")

    def do_GET(self) -> None:
        blobs = "".join(
            f"<Blob><Name>c/files/e/n/r1/MODEL/{name}</Name>"
            "<Properties><Content-Length>1</Content-Length></Properties></Blob>"
            for name in self.NAMES
        )
        is_list = "comp=list" in self.path
        shown = blobs if "MODEL" in self.path else ""
        text = f"<R><Blobs>{shown}</Blobs><NextMarker/></R>" if is_list else "1"
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


async def test_no_name_leads_out_of_its_place(node: Node) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hostile) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        place = {"container": f"http://127.0.0.1:{server.server_port}/c", "signature": "sig=x"}
        node.wire.where = place
        result = await asyncio.to_thread(node.bring)
        server.shutdown()

    assert result.returncode == 0, result.stderr
    assert node.files() == {"1/MODEL/good": b"1", "1/MODEL/x/y": b"1"}
    assert sorted(path.name for path in node.root.iterdir()) == ["after", "after.in-place"]


async def test_what_does_not_fit_is_not_there_and_named(node: Node) -> None:
    node.put("MODEL/a", b"1" * 1000)

    result = node.bring(share=1 << 50)

    assert result.returncode == 0, result.stderr
    assert "Not brought: 1/MODEL: it has 1,000 bytes, and the disk of the node has" in result.stderr
    assert node.files() == {}


async def test_a_storage_that_refuses_is_said_in_one_line_without_its_signature(node: Node) -> None:
    address = node.wire.where["container"].rpartition("/")[0]
    node.wire.where = {"container": f"{address}/absent", "signature": "sig=canary"}

    result = node.bring(outage=0.0)

    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("What earlier jobs left could not be brought: GET http")
    assert "canary" not in line
