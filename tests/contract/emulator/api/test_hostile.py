"""Requests that no client sends: every route, with names, parameters and bodies that are wrong."""

import copy
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest
from azure.storage.fileshare import AccountSasPermissions, ResourceTypes, generate_account_sas
from yarl import URL

from local.azurite import ACCOUNT, KEY
from local.batchai.api import routes
from tests.breadth import every_few
from tests.contract.emulator.api.test_contract import SERVER
from tests.contract.emulator.conftest import CLUSTER, EXPERIMENT, GROUP, Lab, autoscale, cluster_body, custom

#: As they stand in an address.
NAMES = [
    *(
        "%0a",
        "a%0ab",
        "%0d%0aX-Evil:%20yes",
        "%00",
        "%ff",
        "%C3%A4",
        "%F0%9F%92%A9",
        "%ED%A0%80",
        "%",
        "%zz",
        "%2f",
    ),
    *("..", "%2e%2e", ".", "~", "%20", "%7f", "'", '"', "\\", "$skiptoken", "{job}", "*", "a;b", "a:b", "@"),
    *("x" * 64, "x" * 65, "x" * 255, "x" * 256, "x" * 1500, "-", "_", "0", "None"),
]
VALUES: list[Any] = [
    *(None, True, 0, -1, 1.5, 2**31, 2**63, 10**400, 1e308, "", " ", "\n", "\0", "\ud800", "é", "x" * 300),
    *(
        "x" * 70_000,
        "../../x",
        "/",
        "P7D",
        "²",
        [],
        [[]],
        [None],
        {},
        {"": ""},
        {"a": {"b": [1]}},
        "$AZ_BATCHAI_X",
    ),
]
METHODS = ["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS"]
QUERIES = [
    "maxresults",
    "$skiptoken",
    "outputdirectoryid",
    "directory",
    "linkexpiryinminutes",
    "api-version",
    "se",
    "sig",
]
#: Requests, and characters of an address: aiohttp does not take longer ones for HTTP.
_COUNT, _LONGEST = 1500, 8000


#: Names in a File service, below a share that is there.
FILES = [
    f"/{ACCOUNT}/old-share/{{x}}",
    f"/{ACCOUNT}/old-share/folder/{{x}}",
    f"/{ACCOUNT}/{{x}}",
    f"/{ACCOUNT}/{{x}}/{{y}}",
]
OTHERS = [
    "/download/{x}",
    "/emulator/nodes/{x}/preempt",
    "/{x}",
    "/{x}/v2.0/{y}",
    "/subscriptions/{x}",
    "/tenants/{x}",
]
OF_FILES = [
    "restype=share",
    "restype=directory",
    "comp=list",
    "comp=range",
    "comp=%0a",
    "prefix=%ff",
    "restype=x",
]


@dataclass
class Hostile:
    """Draws requests; the same ones with each run."""

    lab: Lab
    chance: random.Random
    token: str

    def requests(self) -> Iterator[tuple[str, str, bytes]]:
        """Method, address, body."""
        values = {
            "subscription": "sub",
            "group": GROUP,
            "workspace": self.lab.workspace,
            "experiment": EXPERIMENT,
            "cluster": CLUSTER,
            "job": "job",
            "location": "eastus",
            "account": ACCOUNT,
        }
        bodies = [
            self.lab.job_body(**custom("true")),
            cluster_body(autoscale(1)),
            SERVER,
            {"location": "eastus", "tags": {"a": "b"}},
            {"properties": {"scaleSettings": autoscale(2)}},
        ]
        templates = [path for path in routes.templates() if not path.endswith("/{group}")]
        for _ in range(_COUNT):
            path = self.chance.choice([*templates, *OTHERS, *FILES, *FILES])
            query = self.query(path)
            for name in re.findall(r"{(\w+)}", path):
                right = name in values and self.chance.random() < 0.8
                path = path.replace(f"{{{name}}}", values[name] if right else self.chance.choice(NAMES))
            if len(address := f"{path}?{query}") < _LONGEST:
                yield self.chance.choice(METHODS), address, self.body(self.chance.choice(bodies))

    def query(self, path: str) -> str:
        """Parameters with wrong values; one that signs what is for the File service."""
        parts = [self.token if path in FILES else "api-version=2018-05-01"]
        for _ in range(self.chance.choice([0, 0, 1, 2])):
            value = self.chance.choice([*NAMES, "1", "1000", "-5", "9" * 4400, "%C2%B2", "stdouterr"])
            parts.append(f"{self.chance.choice(QUERIES)}={value}")
        if path.endswith("/listOutputFiles"):
            parts.append("outputdirectoryid=stdouterr")
        if path in FILES:
            parts.append(self.chance.choice(OF_FILES))
        return "&".join(self.chance.sample(parts, len(parts)))

    def body(self, right: Any) -> bytes:
        """A document with one wrong value somewhere, or two."""
        document = copy.deepcopy(right)
        for _ in range(self.chance.choice([0, 1, 2])):
            place: Any = document
            while isinstance(place, dict | list) and place:
                key = self.chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
                if not isinstance(place[key], dict | list) or not place[key] or self.chance.random() < 0.3:
                    place[key] = copy.deepcopy(self.chance.choice(VALUES))
                    break
                place = place[key]
        return json.dumps(document).encode()


@pytest.mark.parametrize("seed", every_few([1, 2, 3], 0))
async def test_no_request_meets_a_defect(own_lab: Lab, seed: int) -> None:
    emulator = own_lab.emulator
    await own_lab.make_cluster(autoscale(1))
    await own_lab.submit("job", **custom("true"))
    await own_lab.ends("job")
    end = datetime.now(UTC) + timedelta(hours=1)
    token = generate_account_sas(
        ACCOUNT,
        KEY,
        ResourceTypes(service=True, container=True, object=True),
        AccountSasPermissions(read=True, write=True, delete=True, list=True, create=True),
        end,
    )
    hostile = Hostile(own_lab, random.Random(seed), token)
    defects = []
    headers = {"Content-Type": "application/json", "x-ms-content-length": "3", "x-ms-range": "bytes=0-2"}
    async with aiohttp.ClientSession(headers=headers) as session:
        share = f"{emulator.upstream}/{ACCOUNT}/old-share"
        for address in (f"{share}?restype=share", f"{share}/folder?restype=directory"):
            async with session.put(URL(f"{address}&{token}", encoded=True)) as answer:
                assert answer.status == 201
        for method, address, body in hostile.requests():
            url = URL(emulator.upstream + address, encoded=True)
            data = body if method in ("PUT", "POST", "PATCH") else None
            async with session.request(method, url, data=data) as answer:
                text = await answer.read()
                if answer.status >= 500 or text.startswith(b"404:"):
                    defects.append((answer.status, method, address[:300], body[:300], text[:200]))

    assert defects == []
    assert emulator.process is not None
    assert not [line for line in emulator.process.recent if "Traceback" in line]


async def test_no_name_has_a_line_break_or_more_than_255_characters(lab: Lab) -> None:
    """Neither of the contract nor of its neighbours."""
    await lab.prepare()
    names = ["%0a", "a%0ab", "w%0a", "x" * 256, "x" * 3000]
    group = f"/subscriptions/sub/resourceGroups/{GROUP}"
    paths = [
        *(f"{group}/providers/Microsoft.BatchAI/workspaces/{{}}", f"{lab.path}/clusters/{{}}"),
        *(f"{lab.path}/experiments/digits/jobs/{{}}", "/subscriptions/sub/resourceGroups/{}"),
        *("/subscriptions/{}", "/subscriptions/{}/locations", "/{}/v2.0/.well-known/openid-configuration"),
        "/subscriptions/sub/providers/Microsoft.BatchAI/locations/{}/usages",
    ]
    async with aiohttp.ClientSession() as session:
        for path in paths:
            for name in names:
                address = f"{lab.emulator.upstream}{path.format(name)}?api-version=2018-05-01"
                async with session.get(URL(address, encoded=True)) as answer:
                    body = await answer.json()
                assert (answer.status, "error" in body) == (400, True), address[:200]


async def test_what_a_job_calls_its_files_breaks_no_listing_and_no_later_job(lab: Lab) -> None:
    await lab.make_cluster(autoscale(1))
    names = r"""cd "$AZ_BATCHAI_STDOUTERR_DIR"; touch fine $'a\xffb' $'a\nb' $'a\x01b'; mkdir $'d\xff';"""
    names += " mkdir ..data ...; touch ..data/in .../in"
    await lab.submit("job", **custom(names))
    await lab.ends("job")
    path = f"{lab.path}/experiments/digits/jobs/job/listOutputFiles"

    listed = await lab.files("job")
    for directory in ("\0", "a\nb", "x" * 300, "x/" * 3000):
        status, body, _ = await lab.send(
            "POST", path, params={"outputdirectoryid": "stdouterr", "directory": directory}
        )
        assert (status, body.keys()) in ((400, {"error"}), (404, {"error"})), directory[:20]

    usual = {"execution.log", "stderr.txt", "stdout.txt"}
    for directory in ("..data", "...", "..data/../..."):
        assert (await lab.files("job", path=directory)).keys() == {"in"}
    assert listed.keys() == {"..data", "...", "fine", r"a\nb", r"a\x01b", r"a\xffb", r"d\xff"} | usual
    await lab.submit("later", **custom("true"))
    assert (await lab.ends("later")).execution_state == "succeeded"
