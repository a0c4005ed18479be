"""The page that people read of what explain found, to the letter."""

from __future__ import annotations

from typing import Any

import pytest

from shared.intake.explanation.explain_text import markdown

JOB: dict[str, Any] = {
    "id": "j_x",
    "name": "run",
    "experiment": "digits",
    "receipt": "runs/default/r/receipt.json",
    "duplicates": "the same script",
}
CLUSTER: dict[str, Any] = {
    "name": "dev",
    "engine": "batchai",
    "why": "the job names it",
    "state": "steady",
    "size": "Standard_NC6",
    "priority": "lowpriority",
    "nodes": 3,
    "counts": {"idle": 1, "running": 2, "leaving": 0},
    "maximum": 4,
    "nodesToAdd": 1,
}
HEAD = "# digits/run: runs\n\nIt would run on dev. Nothing has run; this is what would happen."
IDENTITY = (
    "## Identity\n\n- Job id: `j_x`\n- What counts as a duplicate: the same script.\n"
    "- Receipt: `runs/default/r/receipt.json`"
)


def page(**members: Any) -> str:
    """What stands between the verdict and the identity, and behind that."""
    body = {"verdict": "runs", "summary": "It would run on dev.", "job": JOB, "cluster": None}
    text = markdown({**body, "warnings": [], "problems": [], "notes": [], "document": None, **members})
    assert text.startswith(HEAD + "\n\n")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    return text.removeprefix(HEAD).strip("\n")


def before_the_identity(**members: Any) -> str:
    text, result, rest = page(**members).partition(IDENTITY)
    assert (result, rest) == (IDENTITY, "")
    return text.strip("\n")


def behind_the_identity(**members: Any) -> str:
    text = page(**members)
    assert text.startswith(IDENTITY)
    return text.removeprefix(IDENTITY).strip("\n")


def test_a_page_about_nothing_else_has_the_verdict_and_the_identity() -> None:
    assert page() == IDENTITY


def test_a_job_that_was_not_sent_has_no_id_yet_and_one_that_would_run_a_name_there() -> None:
    text = page(job={**JOB, "id": None}, engineName="digits-1")
    assert "- Job id: known only when it is sent\n" in text
    assert text.endswith("receipt.json`\n- Name on the cluster: `digits-1`")


def test_warnings_and_notes_are_lists_and_a_warning_about_a_problem_stands_with_the_problem() -> None:
    assert before_the_identity(warnings=["SW012 /x: is unknown", "cluster dev: no\n quota"]) == (
        "## Warnings\n\n- cluster dev: no quota"
    )
    assert behind_the_identity(notes=["nodeCount is 1", "SW012 is a rule"]) == (
        "## What is filled in\n\n- nodeCount is 1\n- SW012 is a rule"
    )


def test_problems_are_sentences_with_their_place() -> None:
    problem = {
        "severity": "error",
        "code": "SW012",
        "pointer": "/a",
        "message": "it is  wrong",
        "remedy": "mend it",
    }
    whole = {**problem, "pointer": "", "message": "Is it?", "remedy": "add it!"}
    assert before_the_identity(problems=[problem, whole]) == (
        "## Problems\n\n- error SW012 `/a`: It is wrong. Mend it.\n"
        "- error SW012 `the document`: Is it? Add it!"
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {},
            " It is steady with 3 of at most 4 nodes (1 idle, 2 running; Standard_NC6, lowpriority)."
            " Nodes to add: **1**.",
        ),
        (
            {"counts": {"idle": 0}, "priority": ""},
            " It is steady with 3 of at most 4 nodes (none; Standard_NC6, priority unknown)."
            " Nodes to add: **1**.",
        ),
        (
            {"nodesToAdd": 0, "counts": {}},
            " It is steady with 3 of at most 4 nodes (none; Standard_NC6, lowpriority). Nodes to add: **0**.",
        ),
        ({"state": None, "note": "was not queried"}, " It was not queried."),
    ],
)
def test_the_cluster_is_reported_as_it_is(changes: dict[str, Any], text: str) -> None:
    assert before_the_identity(cluster={**CLUSTER, **changes}) == (
        f"## Cluster\n\n`dev` (batchai), because the job names it.{text}"
    )


LIMITS = [
    {"name": "nodes", "asked": 2, "allowed": 4, "met": True},
    {"name": "a|b", "asked": 3, "allowed": 0, "met": False},
    {"name": "quota", "asked": "<1>", "allowed": None, "met": None},
]
TABLE = (
    "## Limits\n\n| limit | asked | allowed |  |\n| --- | --- | --- | --- |\n| nodes | 2 | 4 | met |\n"
    "| a\\|b | 3 | 0 | **not met** |\n| quota | &lt;1> | ? | not known |"
)
WAIT = {"from": 0, "to": 60, "reason": "1 node is idle"}
COST = {"nodeHours": {"from": 0, "to": 2.5}, "why": "2 nodes", "price": None, "note": "no price"}


def _row(region: str, date: str = "2026-01-01") -> dict[str, Any]:
    return {"region": region, "date": date, "source": "a list"}


def _price(*rows: dict[str, Any], currency: str = "EUR") -> dict[str, Any]:
    hour, total = {"from": 0.5, "to": 0.75}, {"from": 0, "to": 1.5}
    return {"currency": currency, "perHour": hour, "total": total, "rows": list(rows)}


@pytest.mark.parametrize(
    ("wait", "words"),
    [
        (WAIT, "0 to 60 s"),
        ({**WAIT, "to": None}, "0 s or more"),
        ({**WAIT, "from": None, "to": None}, "not known"),
    ],
)
def test_limits_wait_and_node_hours_are_reported_with_their_reasons(wait: dict[str, Any], words: str) -> None:
    assert before_the_identity(limits=LIMITS, wait=wait, cost=COST) == (
        f"{TABLE}\n\n## Wait and price\n\n- Expected wait: **{words}**. 1 node is idle.\n"
        "- Node-hours: **0 to 2.5** (2 nodes).\n- No price."
    )


def test_a_price_names_its_sources_and_there_may_be_several() -> None:
    prices = [
        _price(_row("eastus"), _row("westus"), _row("eastus", "2026-02-02")),
        _price(_row("eastus"), currency="USD"),
    ]
    text = before_the_identity(limits=[], wait=WAIT, cost={**COST, "price": prices})
    assert text.partition("(2 nodes).\n")[2] == (
        "- Price: **0 to 1.5 EUR**, 0.5 to 0.75 EUR an hour; "
        "eastus, westus, 2026-01-01: a list; eastus, 2026-02-02: a list.\n"
        "- Price: **0 to 1.5 USD**, 0.5 to 0.75 USD an hour; eastus, 2026-01-01: a list."
    )


def test_the_environment_is_a_table_in_which_exact_values_stand_as_code() -> None:
    variables = [
        {"name": "A", "value": "x`y|<z", "source": "job", "exact": True},
        {"name": "B", "value": "a <place>", "source": "engine", "exact": False},
    ]
    assert behind_the_identity(environment=variables) == (
        "## Environment of the script\n\nBeside what the node's system sets. Paths are those of the service; "
        "an emulator has its own root.\n\n| name | value | set by |\n| --- | --- | --- |\n"
        "| `A` | `x'y\\|<z` | job |\n| `B` | a &lt;place> | engine |"
    )
    assert "| name | value | set by |" in behind_the_identity(environment=[])


def test_request_and_document_are_json_between_fences_that_they_do_not_hold() -> None:
    request = {"method": "PUT", "path": "/jobs/x", "body": {"a": "größer"}}
    assert behind_the_identity(request=request, document={"text": "````"}) == (
        '## The request to the engine\n\n`PUT /jobs/x`\n\n```json\n{\n  "a": "größer"\n}\n```\n\n'
        '## The completed job\n\n`````json\n{\n  "text": "````"\n}\n`````'
    )
