"""quick: the first page of a list by one plain request where all is as usual, without an HTTP client.

What is not as usual is None: then the caller asks by `service`, which has words and patience for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from shared.answers.mark import MARK
from slipway.client.calls.answers import Listed
from slipway.client.deployment import Deployment, credentials, deployment_at_hand, proxy_for

#: Most jobs in one answer; and seconds without an answer.
_PAGE, _SECONDS = 200, 20.0
_KINDS: Mapping[str, type[HTTPConnection]] = {"http": HTTPConnection, "https": HTTPSConnection}


def quick_list(url: str, key: str, conditions: Mapping[str, str], limit: int) -> Listed | None:
    """What `Service.search` answers, if one page has it. Raises Failure, for what is wrong here."""
    deployment = deployment_at_hand(url, key.strip())
    if deployment is None or limit > _PAGE:
        return None
    page = _answer(deployment, "jobs", {**conditions, "limit": str(limit)})
    jobs, following = page.get("jobs"), page.get("next")
    searched_to = page.get("searchedTo") if following else None
    if not isinstance(jobs, list) or (following and not searched_to and len(jobs) < limit):
        return None
    return Listed(jobs, following, searched_to)


def _answer(deployment: Deployment, path: str, query: Mapping[str, str]) -> Mapping[str, Any]:
    """The object that the API answers; an empty one for anything else."""
    headers = credentials(deployment.key)
    try:
        place = urlsplit(deployment.url)
        kind = _KINDS.get(place.scheme)
        if kind is None or not place.hostname or proxy_for(deployment.url):
            return {}
        connection = kind(place.hostname, place.port, timeout=_SECONDS)
        try:
            connection.request("GET", f"{place.path}/api/{path}?{urlencode(query)}", headers=headers)
            answer = connection.getresponse()
            body = json.loads(answer.read()) if answer.status == 200 and MARK in answer.headers else {}
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError):
        return {}
    return body if isinstance(body, dict) else {}
