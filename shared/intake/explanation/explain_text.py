"""An explanation as Markdown for people. Pure; it is made from the JSON, which holds no secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shared.jobspec import JsonObject

#: A warning that is listed among the problems, with its remedy.
_PROBLEM = re.compile(r"SW\d{3} ")
_MARKS = {True: "met", False: "**not met**", None: "not known"}


def markdown(body: Mapping[str, Any]) -> str:
    """One page: the verdict first, then the facts for a decision, the long parts last."""
    job = body["job"]
    parts = [
        f"# {job['experiment']}/{job['name']}: {body['verdict']}",
        f"{body['summary']} Nothing has run; this is what would happen.",
        *_list("Warnings", (text for text in body["warnings"] if not _PROBLEM.match(text))),
        *_problems(body["problems"]),
        *_cluster(body["cluster"]),
        *_expectations(body),
        *_identity(job, body.get("engineName")),
        *_list("What is filled in", body["notes"]),
        *_environment(body.get("environment")),
        *_requests(body),
        *_document(body["document"]),
    ]
    return "\n\n".join(parts) + "\n"


def _problems(problems: Sequence[JsonObject]) -> list[str]:
    if not problems:
        return []
    lines = [
        f"- {p['severity']} {p['code']} `{p['pointer'] or 'the document'}`: "
        f"{_sentence(p['message'])} {_sentence(p['remedy'])}"
        for p in problems
    ]
    return ["## Problems", "\n".join(lines)]


def _cluster(cluster: JsonObject | None) -> list[str]:
    if cluster is None:
        return []
    text = f"`{cluster['name']}` ({cluster['engine']}), because {cluster['why']}."
    if cluster.get("state") is None:
        return ["## Cluster", f"{text} It {cluster['note']}."]
    counts = ", ".join(f"{count} {state}" for state, count in cluster["counts"].items() if count) or "none"
    text += (
        f" It is {cluster['state']} with {cluster['nodes']} of at most {cluster['maximum']} nodes ({counts}"
    )
    text += f"; {cluster['size']}, {cluster['priority'] or 'priority unknown'})."
    if "nodesToAdd" in cluster:
        text += f" Nodes to add: **{cluster['nodesToAdd']}**."
    return ["## Cluster", text]


def _expectations(body: Mapping[str, Any]) -> list[str]:
    if "wait" not in body:
        return []
    rows = [
        (one["name"], one["asked"], "?" if one["allowed"] is None else one["allowed"], _MARKS[one["met"]])
        for one in body["limits"]
    ]
    parts = ["## Limits", _table(("limit", "asked", "allowed", ""), rows)]
    wait = body["wait"]
    parts += ["## Wait and price", f"- Expected wait: **{_span(wait)}**. {_sentence(wait['reason'])}"]
    cost = body["cost"]
    parts[-1] += f"\n- Node-hours: **0 to {cost['nodeHours']['to']:g}** ({cost['why']})."
    if cost["price"] is None:
        parts[-1] += f"\n- {_sentence(cost['note'])}"
    for price in cost["price"] or ():
        hour, total = price["perHour"], price["total"]
        parts[-1] += (
            f"\n- Price: **0 to {total['to']:g} {price['currency']}**, "
            f"{hour['from']:g} to {hour['to']:g} {price['currency']} an hour; "
            + "; ".join(_sources(price["rows"]))
            + "."
        )
    return parts


def _sources(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The sources of the prices: the regions of each, and its date."""
    regions: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        regions.setdefault((row["date"], row["source"]), []).append(row["region"])
    return [f"{', '.join(where)}, {date}: {source}" for (date, source), where in regions.items()]


def _identity(job: JsonObject, engine_name: str | None) -> list[str]:
    lines = [
        f"- Job id: {'`' + job['id'] + '`' if job['id'] else 'known only when it is sent'}",
        f"- What counts as a duplicate: {job['duplicates']}.",
        f"- Receipt: `{job['receipt']}`",
    ]
    if engine_name:
        lines.append(f"- Name on the cluster: `{engine_name}`")
    return ["## Identity", "\n".join(lines)]


def _environment(variables: Sequence[JsonObject] | None) -> list[str]:
    if variables is None:
        return []
    rows = [
        (f"`{v['name']}`", f"`{v['value'].replace('`', chr(39))}`" if v["exact"] else v["value"], v["source"])
        for v in variables
    ]
    text = "Beside what the node's system sets. Paths are those of the service; an emulator has its own root."
    return ["## Environment of the script", text, _table(("name", "value", "set by"), rows)]


def _requests(body: Mapping[str, Any]) -> list[str]:
    if "request" not in body:
        return []
    requests = [*body.get("requestsBefore", ()), body["request"]]
    lines = ["## The request to the engine" if len(requests) == 1 else "## The requests to the engine"]
    for one in requests:
        lines += [f"`{one['method']} {one['path']}`", _code(one["body"])]
    return lines


def _document(document: Any) -> list[str]:
    return [] if document is None else ["## The completed job", _code(document)]


def _code(value: Any) -> str:
    """JSON between fences that do not occur in it."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    fence = "`" * 3
    while fence in text:
        fence += "`"
    return f"{fence}json\n{text}\n{fence}"


def _list(title: str, texts: Iterable[str]) -> list[str]:
    lines = [f"- {_plain(text)}" for text in texts]
    return [f"## {title}", "\n".join(lines)] if lines else []


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    lines += [" | ".join(_cell(cell) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: Any) -> str:
    text = _plain(str(value)).replace("|", "\\|")
    return text if text.startswith("`") else text.replace("<", "&lt;")


def _plain(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str) -> str:
    text = _plain(text)
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?", "!")) else ".")


def _span(wait: JsonObject) -> str:
    if wait["from"] is None:
        return "not known"
    return f"{wait['from']} s or more" if wait["to"] is None else f"{wait['from']} to {wait['to']} s"
