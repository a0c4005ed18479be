"""Problems as text, JSON and SARIF: the same facts, in the shapes that people, programs and editors read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.jobspec import report, with_pages
from slipway.commands.validate.sarif import SCHEMA, sarif
from tests.diagnosis import problems_of

TEXT = """{
  "properties": {
    "nodeCount": 2,
    "nodeCuont": 2,
    "customToolkitSettings": {"commandLine": "echo $AZ_BATCHAI_FOO"},
    "containerSettings": {"imageSourceRegistry": {"image": "ubuntu"}},
    "constraints": {"maxWallClockTime": "7.00:00:00"}
  }
}
"""
REGION: dict[str, Any] = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "properties": {
        **{name: {"type": "integer", "minimum": 1} for name in ("startLine", "startColumn", "endLine")},
        "endColumn": {"type": "integer", "minimum": 1},
    },
    "additionalProperties": False,
}  # fmt: skip
CONTEXT: dict[str, Any] = {
    "type": "object",
    "required": ["startLine", "endLine", "snippet"],
    "properties": {
        **{name: {"type": "integer", "minimum": 1} for name in ("startLine", "endLine")},
        "snippet": {"type": "object", "required": ["text"], "additionalProperties": False,
                    "properties": {"text": {"type": "string"}}},
    },
    "additionalProperties": False,
}  # fmt: skip
MESSAGE: dict[str, Any] = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
ARTIFACT: dict[str, Any] = {
    "type": "object", "required": ["uri"], "additionalProperties": False,
    "properties": {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9:/._~%-]+$"}},
}  # fmt: skip
#: The members of OASIS SARIF 2.1.0 that we write: which are needed (sections 3.13 to 3.57) and their types.
SHAPE: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"const": SCHEMA},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {
            "type": "object",
            "required": ["tool"],
            "properties": {
                "tool": {"type": "object", "required": ["driver"], "properties": {"driver": {
                    "type": "object", "required": ["name"], "properties": {
                        "name": {"type": "string", "minLength": 1},
                        "version": {"type": "string"},
                        "rules": {"type": "array", "uniqueItems": True, "items": {
                            "type": "object", "required": ["id"], "properties": {
                                "id": {"type": "string"},
                                "name": {"type": "string", "pattern": "^[A-Za-z0-9]+$"},
                                "shortDescription": MESSAGE,
                                "help": MESSAGE,
                                "helpUri": {"type": "string", "format": "uri", "pattern": "^https?://"},
                                "defaultConfiguration": {"type": "object", "properties": {
                                    "level": {"enum": ["none", "note", "warning", "error"]}}},
                            }, "additionalProperties": False}},
                    }, "additionalProperties": False}}},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "artifacts": {"type": "array", "items": {"properties": {"location": ARTIFACT}}},
                "results": {"type": "array", "items": {
                    "type": "object",
                    "required": ["message", "ruleId", "level", "locations"],
                    "properties": {
                        "ruleId": {"type": "string", "pattern": r"^SW\d{3}$"},
                        "ruleIndex": {"type": "integer", "minimum": 0},
                        "level": {"enum": ["none", "note", "warning", "error"]},
                        "message": MESSAGE,
                        "locations": {"type": "array", "minItems": 1, "items": {
                            "type": "object", "properties": {
                                "physicalLocation": {"type": "object", "required": ["artifactLocation"],
                                    "properties": {"artifactLocation": ARTIFACT, "region": REGION,
                                        "contextRegion": CONTEXT}, "additionalProperties": False},
                                "logicalLocations": {"type": "array"},
                            }, "additionalProperties": False}},
                        "partialFingerprints": {"additionalProperties": {"type": "string"}},
                        "fixes": {"type": "array", "items": {
                            "type": "object", "required": ["artifactChanges"], "properties": {
                                "description": MESSAGE,
                                "artifactChanges": {"type": "array", "minItems": 1, "items": {
                                    "type": "object", "required": ["artifactLocation", "replacements"],
                                    "properties": {
                                        "artifactLocation": ARTIFACT,
                                        "replacements": {"type": "array", "minItems": 1, "items": {
                                            "type": "object", "required": ["deletedRegion"], "properties": {
                                                "deletedRegion": REGION, "insertedContent": MESSAGE},
                                            "additionalProperties": False}},
                                    }, "additionalProperties": False}},
                            }, "additionalProperties": False}},
                    }, "additionalProperties": False}},
            }, "additionalProperties": False}},
    },
    "additionalProperties": False,
}  # fmt: skip


def problems() -> list[dict[str, Any]]:
    return report.problems_as_json(problems_of(TEXT.encode(), Path("job.json"), "jobs/my job.json"))


def test_the_text_names_place_rule_remedy_and_page_and_points_with_a_caret() -> None:
    lines = report.text(problems()).splitlines()

    at = lines.index(
        'jobs/my job.json:4:5: error SW012 properties.nodeCuont: unknown property; did you mean "nodeCount"?'
    )
    assert lines[at + 1 : at + 4] == [
        '  |     "nodeCuont": 2,',
        "  |     ^^^^^^^^^^^",
        '    write "nodeCount" · docs/rules/SW012.md',
    ]
    assert '    write "P7D" (--fix does it) · docs/rules/SW050.md' in lines


def test_the_json_says_the_same_with_a_patch_where_the_fix_is_certain() -> None:
    by_code = {problem["code"]: problem for problem in problems()}

    assert by_code["SW050"] == {
        "code": "SW050",
        "severity": "error",
        "pointer": "/properties/constraints/maxWallClockTime",
        "message": "maxWallClockTime is not an ISO 8601 duration",
        "remedy": 'write "P7D"',
        "file": "jobs/my job.json",
        "line": 7,
        "column": 41,
        "endLine": 7,
        "endColumn": 53,
        "source": '    "constraints": {"maxWallClockTime": "7.00:00:00"}',
        "caret": 40,
        "width": 12,
        "edits": [{"line": 7, "column": 41, "endLine": 7, "endColumn": 53, "text": '"P7D"'}],
        "help": "docs/rules/SW050.md",
        "patch": [{"op": "replace", "path": "/properties/constraints/maxWallClockTime", "value": "P7D"}],
    }
    assert "patch" not in by_code["SW012"], "nodeCount is there already"


def test_sarif_has_the_shape_that_the_standard_asks_for() -> None:
    import jsonschema

    document = json.loads(json.dumps(sarif({"jobs/my job.json": problems()}, version="0.1.0")))

    jsonschema.Draft202012Validator(SHAPE).validate(document)
    (run,) = document["runs"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(ids[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert {result["level"] for result in run["results"]} == {"error", "warning", "note"}
    assert run["artifacts"] == [{"location": {"uri": "jobs/my%20job.json"}}]
    fixed = next(result for result in run["results"] if result["ruleId"] == "SW050")
    assert fixed["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 7, "startColumn": 41, "endLine": 7, "endColumn": 53},
            "insertedContent": {"text": '"P7D"'},
        }
    ]


def test_a_clean_file_is_a_run_without_results() -> None:
    import jsonschema

    document = sarif({"/a/job.json": []}, version="0.1.0")

    jsonschema.Draft202012Validator(SHAPE).validate(document)
    assert document["runs"][0]["results"] == []
    assert document["runs"][0]["artifacts"][0]["location"]["uri"] == "file:///a/job.json"


def test_a_problem_without_a_place_names_the_file() -> None:
    old = {"code": "SW101", "severity": "error", "pointer": "", "message": "m", "remedy": "r"}

    assert report.text([old], "digits/job.json") == (
        "digits/job.json: error SW101: m\n    r · docs/rules/SW101.md\n"
    )
    assert sarif({"job.json": [old]}, version="0")["runs"][0]["results"][0]["ruleId"] == "SW101"


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        ("", ""),
        ("/properties/nodeCount", "properties.nodeCount"),
        ("/properties/mountVolumes/azureFileShares/0/x", "properties.mountVolumes.azureFileShares[0].x"),
        ("/labels/a b", 'labels["a b"]'),
        ("/a~1b", '["a/b"]'),
        ("/$schema", "$schema"),
        ("/", '[""]'),
    ],
)
def test_pointers_are_written_as_people_write_them(pointer: str, shown: str) -> None:
    assert report.dotted(pointer) == shown


def test_a_verdict_counts() -> None:
    assert report.verdict([]) == "valid"
    assert report.verdict(problems()) == "2 errors, 1 warning, 1 hint"


def test_links_are_absolute_where_the_pages_have_an_address_and_paths_where_not() -> None:
    url = "https://example.com/rules"
    linked = [one.as_dict() for one in with_pages(problems_of(TEXT.encode(), Path("job.json")), f"{url}/")]

    rules = sarif({"job.json": linked}, version="1")["runs"][0]["tool"]["driver"]["rules"]

    assert {problem["help"] for problem in linked} == {rule["helpUri"] for rule in rules}
    assert f"· {url}/SW050.md\n" in report.text(linked)
    plain = sarif({"job.json": problems()}, version="1")["runs"][0]["tool"]["driver"]["rules"]
    assert all("helpUri" not in rule and "docs/rules/SW" in rule["help"]["text"] for rule in plain)
