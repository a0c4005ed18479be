"""Problems as SARIF 2.1.0 (OASIS), so that editors and code hosts show them in place. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from shared.jobspec import report
from slipway.rules import RULES, Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}


def sarif(files: Mapping[str, Sequence[report.ProblemMembers]], *, version: str) -> dict[str, Any]:
    """One run over these files: path → problems as JSON. Only the rules that were broken are described."""
    by_code = {problem["code"]: problem for problems in files.values() for problem in problems}
    broken = sorted(by_code.keys() & RULES.keys())
    index = {code: number for number, code in enumerate(broken)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "slipway",
                        "version": version,
                        "rules": [_rule(RULES[code], by_code[code].get("help", "")) for code in broken],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "artifacts": [{"location": {"uri": _uri(file)}} for file in files],
                "results": [
                    _result(problem, file, index) for file, problems in files.items() for problem in problems
                ],
            }
        ],
    }


def _rule(rule: Rule, page: str) -> dict[str, Any]:
    # An address must be absolute; a path in the project can only be text.
    link = {"helpUri": page} if "://" in page else {}
    page = page or rule.page
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.title.replace("'", "").split()),
        "shortDescription": {"text": rule.title},
        "help": {"text": f"{rule.remedy}. See {page}", "markdown": f"{rule.remedy}. See {_linked(page)}"},
        **link,
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _linked(page: str) -> str:
    return f"<{page}>" if "://" in page else f"`{page}`"


def _result(problem: report.ProblemMembers, file: str, index: Mapping[str, int]) -> dict[str, Any]:
    where = str(problem.get("file") or file)
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(where)}}
    if "line" in problem:
        region = {key: problem[name] for key, name in _REGION.items()}
        physical["region"] = region
        # The line is masked, so it is given as the context, not as the region.
        lines = {key: region[key] for key in ("startLine", "endLine")}
        physical["contextRegion"] = lines | {"snippet": {"text": problem["source"]}}
    mark = f"{where}|{problem['code']}|{problem['pointer']}|{problem['message']}"
    result: dict[str, Any] = {
        "ruleId": problem["code"],
        "level": _LEVELS[problem["severity"]],
        "message": {"text": f"{problem['message']}; {problem['remedy']}"},
        "locations": [
            {
                "physicalLocation": physical,
                "logicalLocations": [{"fullyQualifiedName": problem["pointer"] or "/"}],
            }
        ],
        "partialFingerprints": {"slipway/v1": hashlib.sha256(mark.encode()).hexdigest()[:32]},
    }
    if problem["code"] in index:
        result["ruleIndex"] = index[problem["code"]]
    if problem.get("edits"):
        result["fixes"] = [_fix(problem, where)]
    return result


_REGION = {"startLine": "line", "startColumn": "column", "endLine": "endLine", "endColumn": "endColumn"}


def _fix(problem: report.ProblemMembers, file: str) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": {key: edit[name] for key, name in _REGION.items()},
            "insertedContent": {"text": edit["text"]},
        }
        for edit in problem["edits"]
    ]
    return {
        "description": {"text": problem["remedy"]},
        "artifactChanges": [{"artifactLocation": {"uri": _uri(file)}, "replacements": replacements}],
    }


def _uri(file: str) -> str:
    """A relative path as a relative reference, an absolute path as file:///…"""
    path = quote(file.replace("\\", "/"), safe="/._-~")
    return f"file://{path}" if path.startswith("/") else path
