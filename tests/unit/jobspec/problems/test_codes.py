"""Every code is documented for people and produced by some document."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from shared.core.refusals import REFUSALS
from shared.intake.message import read_request
from shared.jobspec import CODES, Limits, Problem, lint, read, read_envelope, validate
from shared.jobspec.schema import schema_text
from tests.unit.jobspec.bad_jobs import BAD_JOBS
from tests.unit.jobspec.checks.lint_jobs import LINTED
from tests.unit.jobspec.jobs import job
from tests.unit.jobspec.reader.test_reading import BAD_TEXTS
from tests.unit.jobspec.test_envelope import BAD_ENVELOPES

ROOT = Path(__file__).parents[4]
DOCS = ROOT / "docs"
TABLE = ROOT / "shared/jobspec/problems/codes.py"


def _all_findings() -> list[Problem]:
    result = [problem for bad in BAD_TEXTS for problem in read(bad[0])[1]]
    result += [problem for bad in BAD_JOBS for problem in validate(bad.document)[1]]
    result += [problem for bad in BAD_ENVELOPES for problem in read_envelope(bad[1])[1]]
    result += validate(job(a=1, b=2), accounts=[], limits=Limits(max_problems=1))[1]
    result += validate(job(), accounts=[])[1]
    result += validate(job(), accounts=["account"], limits=Limits(mountable=frozenset()))[1]
    result += read_envelope({"spec": job(), "sweep": {"lr": [0.1]}})[1]
    result += read_request(b'{"specversion": "1.0", "type": "org.example"}', Limits()).problems
    result += read_request(b'{"nodeCount": 1}', Limits()).problems
    result += [problem for linted in LINTED for problem in lint(linted.document, linted.facts)]
    return result


def test_every_code_is_produced_by_some_document() -> None:
    assert {problem.code for problem in _all_findings()} == set(CODES), (
        "add a document with the problem to tests/unit/jobspec/bad_jobs.py, or to checks/lint_jobs.py there"
    )


def _written(path: Path) -> list[str]:
    """The codes that a file of the source writes out, each as often as it does."""
    source = path.read_text()
    if not re.search(r"SW\d{3}", source):
        return []
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return [text for text in texts if isinstance(text, str) and re.fullmatch(r"SW\d{3}", text)]


def test_every_code_has_one_row() -> None:
    """Python takes the last of two without a word."""
    assert Counter(_written(TABLE)) == Counter(list(CODES))


def test_every_row_is_of_a_code_that_some_rule_finds_and_every_rule_has_a_row() -> None:
    modules = [path for path in (ROOT / "shared").rglob("*.py") if path != TABLE]
    codes = {code for path in modules for code in _written(path)}

    assert codes - set(REFUSALS) == set(CODES), f"give each code a rule, and its row in {TABLE}"


def test_every_finding_is_one_short_line_with_a_remedy() -> None:
    for problem in _all_findings():
        for text in (problem.message, problem.remedy):
            assert 3 < len(text) < 600, problem
            assert text.isprintable(), problem
            assert not text.endswith("."), problem
        assert problem.pointer.isprintable()


def test_codes_are_in_order_and_have_a_title_and_a_remedy() -> None:
    assert list(CODES) == sorted(CODES)
    assert all(
        re.fullmatch(r"SW\d{3}", code) and entry.title and entry.remedy for code, entry in CODES.items()
    )


def test_the_published_schema_is_the_one_of_the_models() -> None:
    published = (DOCS / "job.schema.json").read_text(encoding="utf-8")

    assert published == schema_text(), "run: python -m shared.jobspec.schema > docs/job.schema.json"
