"""The conditions of a list of jobs, and of a cancellation of all that fit."""

from __future__ import annotations

from functions.openapi.elements import AFTER, Body, Parameter, text

#: The conditions of a list of jobs.
JOB_CONDITIONS = (
    text("state", "states separated by commas; `active` stands for every state that is not an end", "failed"),
    text("name", "a name; with `*` at its end, how names begin", "train-*"),
    text("experiment", "exactly this experiment"),
    text("label", "`NAME`, or `NAME=VALUE`", "team=vision"),
    text("cluster", "exactly this cluster"),
    text("source", "drop, inventory, http, queue or rerun, separated by commas"),
    text("owner", "the id of the caller who asked for them with a token"),
    text("team", "exactly this team"),
    text("sweep", "the id of a sweep", "s_3mz7kqv5n2xw4yt6hbcd4efg"),
    text("contains", "words that are in its name, its id or its error, in any case of letters", "resnet oom"),
    text("error", "a part of its error, in any case of letters; `#` as in a signature", "out of memory"),
    text("since", "created since then: a number with s, m, h, d or w, or a time", "2h"),
    text("until", "created before then", "2026-11-25T00:00:00Z"),
    Parameter(
        "order",
        "`created`: the newest first; `ended`: only jobs that have ended, the last end first, and then "
        "`since` and `until` are about their ends",
        {"enum": ["created", "ended"]},
    ),
    Parameter("limit", "jobs in one answer", {"type": "integer", "minimum": 1, "maximum": 200}),
    AFTER,
)
#: Those of an overview.
OVERVIEW_CONDITIONS = tuple(
    one for one in JOB_CONDITIONS if one.name in ("experiment", "owner", "team", "contains")
)
#: Those of a list of jobs that have not ended, whose number is known.
_SELECTING = [one for one in JOB_CONDITIONS if one.name not in ("error", "order", "limit", "after")]
CANCELLATION = Body(
    "conditions on jobs that have not ended, as of a list, and how many are expected to fit",
    (
        {
            "type": "object",
            "properties": {
                "conditions": {
                    "type": "object",
                    "properties": {
                        one.name: {**one.schema, "description": one.description} for one in _SELECTING
                    },
                    "minProperties": 1,
                    "additionalProperties": False,
                },
                "expected": {"type": "integer"},
            },
            "required": ["conditions", "expected"],
            "additionalProperties": False,
        },
    ),
)
