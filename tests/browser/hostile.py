"""A stand-in for the API whose every text tries to become markup, made from the OpenAPI document."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from playwright.async_api import Page, Route

import function_app  # noqa: F401 - its modules declare the operations
from functions.openapi.document import document

SCRIPT = "<img src=x onerror=alert(1)>"
#: Schemas that have all members of another one.
_SAME = {
    **dict.fromkeys(("JobLine", "JobDetail", "AcceptedJob", "Receipt"), "Job"),
    **dict.fromkeys(("SweepLine", "SweepDetail", "AcceptedSweep"), "Sweep"),
    **dict.fromkeys(("Health", "NotReady"), "Health"),
}
_AT = "2026-11-20T10:00:00Z"
_CLUSTER = f"{SCRIPT}Job.cluster {SCRIPT}ClusterState.name"
#: What has to fit together for a view to show anything, or would be asked for without an end.
_FIXED: dict[str, Any] = {
    "Job.cluster": _CLUSTER,
    "ClusterState.name": _CLUSTER,
    "Job.accepted": {
        "properties": {
            "environmentVariables": [
                {"name": f"{SCRIPT}Accepted.variable", "value": f"{SCRIPT}Accepted.value"}
            ],
            "secrets": [{"name": f"{SCRIPT}Accepted.secret", "value": f"{SCRIPT}Accepted.masked"}],
            "customToolkitSettings": {"commandLine": f"run --rate {SCRIPT}Accepted.option"},
            f"{SCRIPT}Accepted.member": [[f"{SCRIPT}Accepted.item"]],
        },
    },
    "JobPage.next": None,
    "LiveJob.more": False,
    "LiveJob.restarted": False,
    "Metrics.more": False,
    "Metrics.restarted": False,
    "NodeHistory.points": [[1, 1, 1], [2, 1, 1]],
    "Explanation.environment": [{"name": f"{SCRIPT}Explanation.environment", "value": SCRIPT}],
    "Explanation.cluster": {"name": SCRIPT, "why": f"{SCRIPT}Explanation.cluster"},
}


class Hostile:
    """Answers every call. `texts` are the members that were answered with markup."""

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self.failing = ""
        self._document = document()
        self._schemas: dict[str, Any] = self._document["components"]["schemas"]

    async def install(self, page: Page) -> None:
        await page.route(lambda url: "/api/" in url and "/api/ui/" not in url, self._answer)

    async def _answer(self, route: Route) -> None:
        url, method = urlsplit(route.request.url), route.request.method
        if self.failing and url.path.endswith(self.failing):
            problem = {**self._object("ProblemDocument", 1), "status": 500}
            await route.fulfill(status=500, body=json.dumps(problem), content_type="application/problem+json")
            return
        status, name = self._operation(method, unquote(url.path))
        if name is None:
            headers = {"Slipway-Next-Offset": "9", "Slipway-More": "false"}
            headers["Content-Disposition"] = "attachment"
            await route.fulfill(body=f"{SCRIPT}\n", content_type="text/plain", headers=headers)
            return
        answer = self._object(name, 1)
        state = "running" if "state=active" in url.query else "failed"
        for one in answer.get("jobs", [answer]):
            if "state" in one and "createdAt" in one:
                one["state"] = state
        await route.fulfill(status=status, json=answer)

    def _operation(self, method: str, path: str) -> tuple[int, str | None]:
        """The status of the first answer of an operation, and its schema, if it is JSON."""
        for pattern, operations in self._document["paths"].items():
            if method.lower() in operations and re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", pattern), path):
                status, answer = next(iter(operations[method.lower()]["responses"].items()))
                schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
                return int(status), schema.get("$ref", "").rpartition("/")[2] or None
        return 200, None

    def _object(self, name: str, number: int) -> dict[str, Any]:
        """An object of this schema, with all of its members."""
        owner = _SAME.get(name, name)
        members = self._schemas[name].get("properties", {})
        return {key: self._value(schema, f"{owner}.{key}", number) for key, schema in members.items()}

    def _value(self, schema: dict[str, Any], member: str, number: int) -> Any:
        if member in _FIXED:
            self.texts.update(re.findall(r">(\w+\.\w+)", json.dumps(_FIXED[member])))
            return _FIXED[member]
        if "anyOf" in schema:
            schema = next(one for one in schema["anyOf"] if one.get("type") != "null")
        if "$ref" in schema:
            return self._object(schema["$ref"].rpartition("/")[2], number)
        if "enum" in schema or "const" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        kind = schema.get("type")
        if kind == "array":
            return list(self._items(schema, member))
        if kind == "object":
            inner = schema.get("additionalProperties")
            key = self._text(member, number)
            return {key: self._value(inner, member, number) if isinstance(inner, dict) else key}
        if kind == "string":
            return self._string(schema, member, number)
        return True if kind == "boolean" else number

    def _string(self, schema: dict[str, Any], member: str, number: int) -> str:
        if schema.get("format") == "date-time":
            return _AT
        text = self._text(member, number)
        return base64.b64encode(text.encode()).decode() if schema.get("contentEncoding") == "base64" else text

    def _items(self, schema: dict[str, Any], member: str) -> Iterator[Any]:
        """Two of a kind, so that they can be told apart; one of each kind, or every word of a list."""
        items = schema.get("items", {})
        if "enum" in items:
            yield from items["enum"]
        elif "prefixItems" in schema:
            yield from (self._value(one, member, 1) for one in schema["prefixItems"])
        else:
            for kind in items.get("anyOf", [items]):
                yield from (self._value(kind, member, number) for number in (1, 2))

    def _text(self, member: str, number: int) -> str:
        self.texts.add(member)
        return f"{SCRIPT}{member} {number}"
