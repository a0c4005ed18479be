"""docs/reference/operations.md: every operation in one line."""

from __future__ import annotations

from functions.openapi.elements import OPERATIONS, Content, Operation, Raw

_HEAD = """# The operations of the API

This page is generated: `python -m functions.openapi`. [The HTTP API](api.md) says what holds for all calls;
`GET /api/openapi.json` describes each parameter and member. A call may also be refused with 400, 401, 403,
500, 502 and 503, one that is not a `GET` with 415, and one with a body with 411. The role `Jobs.Admin`
includes the others; a call without a role is open to callers with any, and what they may see or change
follows from the job.

| call | query | role | answer | refused | what it does |
|---|---|---|---|---|---|
"""


def outline() -> str:
    """The whole page, in Markdown."""
    operations = sorted(OPERATIONS.values(), key=lambda one: (one.route, one.method))
    return _HEAD + "".join(f"| {' | '.join(_cells(one))} |\n" for one in operations)


def _cells(one: Operation) -> tuple[str, ...]:
    path = "/api/" + one.route.replace("{*", "{")
    own = {status: f"`{content}` {status}" for status, content in one.refusals.items()}
    return (
        ", ".join(f"`{method} {path}`" for method in one.methods),
        ", ".join(f"`{parameter}`" for parameter in one.parameters),
        "none" if one.public else one.needs,
        "; ".join(_answers(one)),
        ", ".join(own.get(status, str(status)) for status in sorted({*one.refused, *own})),
        f"{one.summary}. {one.description}".rstrip(),
    )


def _answers(one: Operation) -> list[str]:
    """The answers, each with its statuses."""
    by_kind: dict[str, list[int]] = {}
    for status, content in one.answers.items():
        by_kind.setdefault(_kind(content), []).append(status)
    return [f"{kind} {', '.join(map(str, statuses))}".strip() for kind, statuses in by_kind.items()]


def _kind(content: Content) -> str:
    if isinstance(content, Raw):
        kinds = (one if isinstance(one, str) else kind for kind, one in content.content.items())
        return ", ".join(f"`{kind}`" for kind in kinds)
    return f"`{content}`" if content else ""
