"""Pages, rules, codes and schema agree; what a page calls wrong is wrong, what it calls right is right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.sealing import AesSeal
from shared.core.engine import Cluster, Engine
from shared.core.errors import Misconfigured
from shared.core.teams.document import Quota, Team, Teams
from shared.intake.drops.drop import look_at_folder
from shared.jobspec import (
    CODES,
    Defaults,
    Facts,
    JobSpec,
    Limits,
    Problem,
    complete,
    lint,
    page_of,
    read,
    validate,
)
from shared.jobspec.known_names import format_words
from shared.jobspec.schema import job_schema
from slipway.rules import RULES, index_text, page_text
from tests.diagnosis import problems_of
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.archived_code import archived
from tests.unit.world import CLUSTER, World, job_json

ROOT = Path(__file__).resolve().parents[3]
PAGES = ROOT / "docs" / "rules"
_SEVERITIES = {
    "error": "Error: the job does not run.",
    "warning": "Warning: the job runs.",
    "hint": "Hint: the job runs.",
}
OLD = Cluster("old", "gone", CLUSTER.id.replace("/dev", "/old"))


def examples(code: str) -> tuple[str, str]:
    """What the page calls wrong, and what it calls right."""
    text = (ROOT / page_of(code)).read_text(encoding="utf-8")
    blocks = re.findall(r"```json\n(.*?)\n```", text, re.DOTALL)
    assert len(blocks) == 2, (
        f"{page_of(code)} needs a wrong and a right example in JSON, as docs/rules/SW044.md"
    )
    return blocks[0], blocks[1]


#: What stands for "…" in an example.
_DOTS: dict[str, str] = {
    "SW001": "x" * (256 << 10),
    "SW004": "[" * 70 + "]" * 70,
    "SW009": ", ".join('{"name": "A", "value": "b"}' for _ in range(7000)),
    "SW016": '", "'.join(f'b{number}": 1, "c{number}": 1, "d{number}' for number in range(50)).replace(
        '", "b', '": 1, "b'
    ),
}


def codes_of(code: str, text: str, tmp_path: Path, *, right: bool) -> dict[str, str]:
    """The rules that an example breaks, where it is a document by itself, and their severities."""
    folder = tmp_path / "digits"
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_bytes(b"print(1)\n")
    (folder / "windows.sh").write_bytes(b"#!/bin/sh\r\necho 1\r\n")
    (folder / "linux.sh").write_bytes(b"#!/bin/sh\necho 1\n")
    text = text.replace("…", _DOTS.get(code, "x"))
    data = text.encode("utf-16") if code == "SW002" and not right else text.encode()
    (folder / "job.json").write_bytes(data)
    problems = {one.code: one.severity for one in problems_of(data, folder / "job.json")}
    document, _ = read(data)
    if document is not None and code in ("SW039", "SW082", "SW074", "SW075", "SW076", "SW078"):
        retired = "Azure has retired it" if "/clusters/k80" in text else ""
        facts = Facts(max_nodes=4, gpus_per_node=1, max_wall_clock=timedelta(days=1), retired_size=retired)
        completed, _ = complete(document, Defaults(cluster_id=CLUSTER.id, std_out_err_path_prefix="$HOME"))
        limits = Limits(mountable=frozenset({"datalake", "logs"}) if code == "SW082" else None)
        judged = validate(completed, accounts=["account"], limits=limits)
        problems |= {one.code: one.severity for one in judged.problems}
        problems |= {one.code: one.severity for one in lint(completed, facts)}
    return {each: severity for each, severity in problems.items() if each not in ("SW034",) or code == each}


OFFLINE = sorted(CODES)


@pytest.mark.parametrize("code", OFFLINE)
def test_what_a_page_calls_wrong_breaks_its_rule_and_no_other(code: str, tmp_path: Path) -> None:
    result = codes_of(code, examples(code)[0], tmp_path, right=False)

    assert result.get(code) == CODES[code].severity
    if code not in ("SW003", "SW016"):
        errors = {each for each, severity in result.items() if severity == "error"}
        assert errors <= {code, *_TOGETHER.get(code, ())}


#: What else is wrong with a document that has this one mistake.
_TOGETHER = {"SW012": ("SW010",)}


@pytest.mark.parametrize("code", OFFLINE)
def test_what_a_page_calls_right_breaks_no_rule_that_stops_a_job(code: str, tmp_path: Path) -> None:
    result = codes_of(code, examples(code)[1], tmp_path, right=True)

    assert code not in result
    assert "error" not in result.values()


@dataclass
class TwoEngines:
    """Two clusters, the engine of one of which is not usable."""

    engine: MemoryEngine
    clusters: Mapping[str, Cluster] = field(default_factory=lambda: {"dev": CLUSTER, "old": OLD})

    def get(self, engine: str) -> Engine:
        if engine == "gone":
            raise Misconfigured("no engine 'gone' is configured here")
        return self.engine


def _unsealed(world: World) -> None:
    world.use(seal=AesSeal([]))


def _two_engines(world: World) -> None:
    world.use(engines=TwoEngines(world.engine))
    completion = Defaults(
        cluster_id=CLUSTER.id,
        clusters={"dev": CLUSTER.id, "old": OLD.id},
        std_out_err_path_prefix="$HOME",
    )
    world.policy(completion=completion)


def _a_blob(world: World) -> None:
    document = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "hostname"}}}
    world.drops.upload("digits/job.json", json.dumps(document).encode())


def _no_mpi(world: World) -> None:
    world.engine.cannot = {"customMpiSettings": "this engine has no MPI"}


class _Defective(MemoryEngine):
    """Its check fails over MPI."""

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        if spec.properties.custom_mpi_settings is not None:
            raise ArithmeticError("secret-77")
        return super().check(spec)


def _a_large_folder(world: World) -> None:
    for name in ("run.sh", *(f"{number}.csv" for number in range(500))):
        world.drops.upload(f"digits/{name}", b"true")


def _a_defect(world: World) -> None:
    world.use(engines=TwoEngines(_Defective()))


#: Rules that only a deployment can break, and what has to be so there.
DEPLOYED: dict[str, Callable[[World], object]] = {
    "SW101": _two_engines,
    "SW102": _unsealed,
    "SW103": lambda world: None,
    "SW104": lambda world: None,
    "SW105": lambda world: None,
    "SW106": _a_blob,
    "SW107": lambda world: world.policy(max_document=128),
    "SW108": lambda world: None,
    "SW109": _no_mpi,
    "SW110": lambda world: world.policy(limits=replace(world.ports.policy.limits, max_node_hours=24)),
    "SW111": _a_defect,
    "SW112": lambda world: None,
    "SW113": lambda world: None,
    "SW114": lambda world: world.drops.upload("digits/table.csv", b"1,2", archived=True),
    "SW115": lambda world: None,
    "SW117": _a_large_folder,
    "SW118": lambda world: world.drops.upload("digits/.env", b"x"),
    "SW119": lambda world: None,
    "SW116": lambda world: archived(world, b"an archive"),
}


async def _in_a_world(code: str, text: str) -> dict[str, str]:
    world = World()
    DEPLOYED[code](world)
    if code in ("SW105", "SW107", "SW114", "SW115", "SW117", "SW118"):
        return await _dropped(world, text)
    if code == "SW108":
        first = {"properties": {"nodeCount": 2, "customToolkitSettings": {"commandLine": "hostname"}}}
        await world.message({"idempotencyKey": "order-7", "spec": first}, "m1")
    if code == "SW112":
        await world.message({"name": "prepare", "spec": job_json()}, "m1")
    if code in ("SW113", "SW119"):
        await world.ports.teams.put(Teams(teams={"vision": Team(quota=Quota(nodes=2))}), "")
    accepted = await world.message(text.encode(), "m2")
    return {problem["code"]: problem["severity"] for problem in accepted.job.problems}


async def _dropped(world: World, text: str) -> dict[str, str]:
    world.drops.upload("digits/job.json", text.replace("\n    ", " ").encode())
    folder = "digits/"
    if "<SLIPWAY_SCRIPT" in text:
        folder = "digits/first/"
        for name in ("train.py", "model.py"):
            world.drops.upload(f"{folder}{name}", b"print(1)\n")
    world.pass_time(60)
    looked = await look_at_folder(world.ports, folder)
    return {p["code"]: p["severity"] for accepted in looked.accepted for p in accepted.job.problems}


@pytest.mark.parametrize("code", DEPLOYED)
async def test_what_a_page_calls_wrong_is_refused_by_a_deployment_and_what_it_calls_right_is_not(
    code: str,
) -> None:
    wrong, right = examples(code)

    assert (await _in_a_world(code, wrong)).get(code) == RULES[code].severity
    assert "error" not in (await _in_a_world(code, right)).values()


def test_every_rule_has_its_page_and_every_page_its_rule() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == {*RULES, "README"}, "run: python -m slipway.rules"
    assert set(RULES) == {*OFFLINE, *DEPLOYED}


@pytest.mark.parametrize("code", RULES)
def test_a_page_is_short_and_says_what_why_wrong_and_right(code: str) -> None:
    rule = RULES[code]
    text = (ROOT / rule.page).read_text(encoding="utf-8")

    lines = text.splitlines()
    assert text == page_text(rule, text), "run: python -m slipway.rules"
    assert lines[:3] == [f"# {code}: {rule.title}", "", _SEVERITIES[rule.severity]]
    assert f"**What to do.** {rule.remedy[0].upper()}{rule.remedy[1:]}." in lines
    assert "**Why.** " in text
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Wrong", "Right"]
    assert len(lines) < 70
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (PAGES / target).is_file()


def test_the_index_is_the_generated_one() -> None:
    written = (PAGES / "README.md").read_text(encoding="utf-8")

    assert written == index_text(), "run: python -m slipway.rules"
    assert [code for code in RULES if f"[{code}]" not in written] == []


def test_every_property_of_the_schema_is_described_and_stands_in_the_format_page() -> None:
    schema = job_schema()
    page = (ROOT / "docs" / "reference" / "job-format.md").read_text(encoding="utf-8")
    for name, definition in {"JobSpec": schema, **schema["$defs"]}.items():
        for member, one in definition["properties"].items():
            described = (
                one.get("description") or schema["$defs"][one["$ref"].rpartition("/")[2]]["description"]
            )
            assert described, f"{name}.{member}"
            assert definition["additionalProperties"] is False
            assert f"`{member}`" in page, member


def test_every_name_of_the_format_stands_in_the_format_page() -> None:
    page = (ROOT / "docs" / "reference" / "job-format.md").read_text(encoding="utf-8")

    assert sorted(name for name in format_words() if f"`{name}`" not in page) == []


def test_places_name_the_pages_of_their_rules() -> None:
    problems: list[dict[str, Any]] = [one.as_dict() for one in problems_of(b'{"properties": 1}', Path("a"))]

    assert {problem["help"] for problem in problems} == {page_of(problem["code"]) for problem in problems}
    assert all((ROOT / problem["help"]).is_file() for problem in problems)
