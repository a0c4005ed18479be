"""The operations of a deployment's operators: clusters, pauses, audit, trail, health, teams."""

from __future__ import annotations

from collections.abc import Mapping

from functions.openapi.elements import TEAMS, UNREADABLE, Operation, Parameter, text
from shared.answers import operate, teams, trail

#: By the name of the function.
OPERATOR_CALLS: Mapping[str, Operation] = {
    "get_clusters": Operation(
        "GET",
        "clusters",
        "List clusters as they are now",
        {200: operate.ClusterList},
        query=(
            text("history", "also their nodes since then: a number with s, m, h, d or w, or a time", "6h"),
        ),
    ),
    "pause": Operation(
        "POST",
        "pause",
        "Pause submissions",
        {200: operate.PauseState},
        UNREADABLE,
        (text("reason", "shown with every job that waits"),),
    ),
    "resume": Operation("POST", "resume", "Resume submissions", {200: operate.PauseState}, UNREADABLE),
    "audit": Operation(
        "GET", "audit", "Compare drops, ledger, clusters and deliveries", {200: operate.AuditReport}
    ),
    "get_trail": Operation(
        "GET",
        "trail",
        "Read who did what, the newest first",
        {200: trail.Trail},
        query=(
            text("by", "the id of the caller who did it", "ann"),
            text("operation", "the name of the operation in this document", "cancel_job"),
            text("about", "the id of a job, a sweep or an event", "j_3mz7kqv5n2xw4yt6hbcd4efg"),
            text("team", "exactly this team"),
            text("day", "of this day in UTC", "2026-11-25"),
            Parameter("limit", "acts in one answer", {"type": "integer", "minimum": 1, "maximum": 200}),
            text("after", "the `next` of an earlier answer"),
        ),
    ),
    "health": Operation(
        "GET",
        "health",
        "Whether storage and clusters answer",
        {200: operate.Health},
        public=True,
        head=True,
        refusals={503: operate.NotReady},
    ),
    "get_me": Operation("GET", "me", "Get who calls, and what they may do", {200: operate.Identity}),
    "get_settings": Operation(
        "GET", "settings", "Get what clients need to send files", {200: operate.ClientSettings}
    ),
    "get_teams": Operation("GET", "teams", "Get the teams", {200: teams.TeamsDocument}),
    "get_usage": Operation("GET", "usage", "Get the use of quotas", {200: teams.TeamsUsage}),
    "put_teams": Operation(
        "PUT",
        "teams",
        "Replace the teams",
        {200: teams.ChangedTeams},
        (412, 413, 422, *UNREADABLE),
        (
            text(
                "version",
                "412 where the teams have changed; without it, any version is replaced, readable or not",
            ),
            Parameter("dryRun", "show the changes and write nothing", {"enum": ["true", "false"]}),
        ),
        body=TEAMS,
    ),
}
