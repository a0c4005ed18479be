"""The deployment: whether it answers, accepts the key, has the same version, and reaches its clusters."""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from shared import __version__
from shared.setting_table.functions_off import DROP, NEEDED
from slipway.client.calls.health import Health, Refusing, health
from slipway.client.deployment import LOOPBACK, Deployment, chosen_profile, find_deployment
from slipway.client.profiles import Profile
from slipway.client.service import service
from slipway.commands.doctor.findings import Finding, Options, fail, ok, warn
from slipway.failure import Failure
from slipway.settings import ADDRESS, UP, running_stacks
from slipway.terminal.times import moment

#: Seconds of clock difference from which signatures are refused, and from which a warning is shown.
_REFUSED, _NOTABLE = 300, 30
_CLOCK = "signatures of webhooks and SAS hold for a time; let both machines keep time by NTP"
#: Member and value of a health answer that report trouble → the finding.
_BAD: Mapping[tuple[str, object], Finding] = {
    ("storage", "does not answer"): fail(
        "app", "its storage account does not answer", "check its SLIPWAY_STORAGE, and its identity's roles"
    ),
    ("storage", "refuses writes"): fail(
        "app",
        "its storage account answers reads and refuses writes, so jobs stay as they are",
        "give its identity the roles of a contributor for blobs, queues and tables, and remove locks; read "
        "its log",
    ),
    ("sweeper", "fails"): fail(
        "app", "its last pass over the jobs failed, so jobs stay as they are", "read its log"
    ),
    ("settings", "wrong"): warn(
        "app",
        "a service or its host refuses its settings, or a cluster does not keep its teams apart",
        "see the lines of its clusters below; read its log",
    ),
    ("paused", True): warn("app", "submissions are paused, so jobs wait", "`slipway resume --all`"),
}
#: What health says of clusters → of how many, and the remedy.
_SILENT = {
    "does not answer": ("do not answer", "see their lines below"),
    "misconfigured": ("refuse its settings or are not there", "see their lines below; read its log"),
}
#: Health counts this as misconfigured, although a new deployment without a cluster works.
_NO_CLUSTER = warn("cluster", "the app connects none, so jobs wait", "name one in SLIPWAY_CLUSTERS")
#: Of functions that are off, as many are named.
_SHOWN = 20
_ENABLE = "remove its setting AzureWebJobs.NAME.Disabled, or AzureWebJobs_NAME_Disabled"
#: The blob trigger counts as off only where SLIPWAY_BLOB_SOURCE lets the host scan.
_NO_SCAN = warn(
    "app",
    f"its host does not run {DROP}, so it notices drops late",
    "on Flex Consumption, which does not scan, remove its setting SLIPWAY_BLOB_SOURCE; on other plans remove "
    f"AzureWebJobs.{DROP}.Disabled, or AzureWebJobs_{DROP}_Disabled",
)
_COUNTED = {"unreadable": "rows that cannot be read", "parked": "jobs that wait for a repair of it"}


async def check(options: Options) -> list[Finding]:
    """Find the deployment, and check that it works."""
    try:
        deployment = await find_deployment(options.url, options.key)
        profile = None if options.url else chosen_profile()
    except Failure as failure:
        return [fail("address", str(failure))]
    findings = [_address(options, deployment, profile)]
    try:
        answer = await health(deployment.url)
    except Refusing as failure:
        return [*findings, fail("app", str(failure))]
    except Failure as failure:
        chosen = bool(options.url or profile or running_stacks() or (UP / ADDRESS).exists())
        return [*findings, _silent(str(failure), chosen=chosen)]
    findings += complaints(answer)
    if answer.ahead is not None:
        findings.append(clock(answer.ahead))
    if findings[0].outcome == "fail":  # never send the key where others could read it
        return findings
    more = await _behind_the_key(deployment)
    if _NO_CLUSTER in more:
        findings = [one for one in findings if one.subject != "clusters"]
    return [*findings, *more]


def clock(ahead: float) -> Finding:
    """The finding about the clocks. This one is `ahead` of the app's, in seconds."""
    if abs(ahead) < _NOTABLE:
        return ok("clock", f"agrees with the app's within {_NOTABLE} s")
    text = f"is {abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} the app's"
    return fail("clock", text, _CLOCK) if abs(ahead) >= _REFUSED else warn("clock", text, _CLOCK)


def complaints(answer: Health) -> list[Finding]:
    """The findings in a health answer."""
    findings = [ok("app", f"answers in {answer.seconds * 1000:.0f} ms")] if answer.ready else []
    findings += [_BAD[one] for one in answer.words.items() if isinstance(one[1], str | bool) and one in _BAD]
    findings += [*_not_run(answer.words["off"]), *_of_clusters(answer.words["clusters"])]
    for name, what in _COUNTED.items():
        if number := answer.words[name]:
            findings.append(warn("app", f"{number} {what}", "`slipway audit` names them"))
    if not answer.ready and all(one.outcome != "fail" or one.subject != "app" for one in findings):
        findings.append(fail("app", "it answers that it is not ready", "read its log"))
    return findings


def _of_clusters(clusters: object) -> list[Finding]:
    """The findings about clusters of which the app has no answer, or a refusal. They stop no other's jobs."""
    numbers = clusters if isinstance(clusters, dict) else {}
    counted = {word: number for word, number in numbers.items() if isinstance(number, int)}
    total = sum(counted.values())
    return [
        fail("clusters", f"{counted[word]} of {total} {text}, so their jobs wait", remedy)
        for word, (text, remedy) in _SILENT.items()
        if counted.get(word)
    ]


def _not_run(off: object) -> list[Finding]:
    """The findings about functions that its host does not run: those that jobs need, and all others."""
    names = [str(name)[:60] for name in (off if isinstance(off, list) else [off] if off else [])]
    findings = []
    if needed := ", ".join(name for name in names if name in NEEDED):
        findings.append(fail("app", f"its host does not run {needed}, so jobs stay as they are", _ENABLE))
    if DROP in names:
        findings.append(_NO_SCAN)
    if others := [name for name in names if name not in (*NEEDED, DROP)][:_SHOWN]:
        findings.append(warn("app", f"its host does not run {', '.join(others)}", _ENABLE))
    return findings


def versions(theirs: str) -> Finding:
    """Whether the app has this version."""
    if theirs == __version__:
        return ok("version", f"the app and this command are both {theirs}")
    text = f"the app is {theirs[:40]}, and this command is {__version__}"
    return warn("version", text, "install the app's version here if they do not understand each other")


def _address(options: Options, deployment: Deployment, profile: Profile | None) -> Finding:
    """The address, with the source of it and of the key."""
    if options.url:
        source = "SLIPWAY_URL" if os.environ.get("SLIPWAY_URL") == options.url else "--url"
    else:
        source = "the profile" if profile else "the local stack"
    if options.key:
        key = f"key of {'SLIPWAY_KEY' if os.environ.get('SLIPWAY_KEY') == options.key else '--key'}"
    elif profile and profile.scope:
        key = "token of Entra ID"
    else:
        key = "key of the profile" if deployment.key else "no key"
    text = f"{deployment.url} by {source}, {key}"
    address = urlsplit(deployment.url)
    if address.scheme == "http" and address.hostname not in LOOPBACK and deployment.key:
        return fail("address", text, "plain http shows the key to others on the way; give an https address")
    return ok("address", text)


def _silent(text: str, *, chosen: bool) -> Finding:
    """The finding if no deployment answers. If no address was `chosen`, none may be needed yet."""
    if not chosen:
        return warn("app", text, "choose one: `slipway login URL`, or `slipway up` in a clone")
    remedy = "check the address, that it runs (`slipway up` starts a local one), and that no setting of its "
    return fail("app", text, f"{remedy}host disables the function health")


async def _behind_the_key(deployment: Deployment) -> list[Finding]:
    """The findings that need the key: version and clusters."""
    async with service(deployment.url, deployment.key) as api:
        try:
            version = await api.version()
        except Failure as failure:
            return [fail("key", str(failure))]
        findings = [ok("key", "is accepted" if deployment.key else "is not asked for"), versions(version)]
        try:
            clusters = await api.clusters()
        except Failure as failure:
            return [*findings, fail("cluster", str(failure))]
    return [*findings, *(map(_cluster, clusters) if clusters else (_NO_CLUSTER,))]


def _cluster(cluster: Mapping[str, Any]) -> Finding:
    subject, name = "cluster", cluster["name"]
    if "error" in cluster:
        since = f" since {moment(cluster['since'])}" if cluster.get("since") else ""
        text = f"{name} cannot be queried{since}: {cluster['error']}"
        return fail(subject, text, "its jobs wait; check that it runs, its address and its credentials")
    if cluster["errors"]:
        return warn(
            subject,
            f"{name}: {'; '.join(map(str, cluster['errors']))}",
            "correct it; jobs may wait for that",
        )
    number = cluster["nodes"]
    return ok(subject, f"{name} answers: {cluster['state']}, {number} node{'' if number == 1 else 's'}")
