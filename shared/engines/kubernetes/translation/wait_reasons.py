"""Why an attempt waits, in sentences, from its pods, its Workload and its Job's events. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shared.core.engine import NEVER, Why
from shared.engines.kubernetes.translation.conditions import condition, conditions

Objects = Sequence[Mapping[str, Any]]

_LONGEST = 300
#: Of a container whose pod is being made.
MAKING = ("ContainerCreating", "PodInitializing")
#: The reason of a container that has not started → our sentence, and whether the wait passes by itself.
CONTAINERS: Mapping[str, tuple[str, bool]] = {
    **dict.fromkeys(MAKING, ("its pods are being made ready", True)),
    "ErrImagePull": ("its image cannot be fetched", False),
    "ImagePullBackOff": ("its image cannot be fetched", False),
    "InvalidImageName": ("the name of its image is not valid", False),
    "ErrImageNeverPull": ("its image is not on the node, and may not be fetched", False),
    "ImageInspectError": ("its image cannot be read on the node", False),
    "RegistryUnavailable": ("its image cannot be fetched", False),
    "SignatureValidationFailed": ("the signature of its image is not valid", False),
    "CreateContainerConfigError": ("an object that its pods use is missing", False),
    "CreateContainerError": ("its container cannot be made", False),
}
#: The reason of a pod's warning → our sentence.
_WARNINGS: Mapping[str, str] = {
    "FailedMount": "a volume of its pods cannot be mounted",
    "FailedAttachVolume": "a volume of its pods cannot be attached",
    "FailedMapVolume": "a volume of its pods cannot be mounted",
    "FailedCreatePodSandBox": "its node cannot make its pods",
}
#: Of a Job without a queue that someone else stopped.
SUSPENDED = Why("Suspended", "its Job is suspended on the cluster, by an administrator or by hand")
#: The same with a queue.
_DEACTIVATED = Why(
    "Suspended", "its Workload is deactivated in Kueue, by an administrator or by hand: spec.active is false"
)
#: The reason of a Workload without quota → our sentence, and whether it needs a change by people.
_QUOTA: Mapping[str, tuple[str, bool]] = {
    "WaitingForQuota": ("the quota of its queue is in use", False),
    "Pending": ("the quota of its queue is in use", False),
    "ExceedsMaxQuota": (f"{NEVER}: it asks for more than its queue may ever have", True),
    "Misconfigured": (f"{NEVER}: its queue is not set up", True),
    "Inadmissible": (f"{NEVER}: its queue does not admit it", True),
}
#: Two words that a pod has in turn while its image cannot be fetched, as one.
_FETCHING = {"ErrImagePull": "ImagePullBackOff"}
#: What changes in a message from one look to the next, and says nothing more: names of pods, amounts.
_UNSTEADY = re.compile(
    r'^Error creating: (pods "[^"]*" is forbidden: )?|^Back-off pulling image "[^"]*": ErrImagePull: '
    r"|, used: .*?(?=, limited: )|, [\d.]+\w* more needed|\. no new claims.*|, unattached volumes=\[.*?\]",
    re.ASCII | re.DOTALL,
)
#: Of a pod whose first containers have not all ended.
_FIRST = re.compile(r"Init:\d+/\d+", re.ASCII)
#: How the list of volumes begins that are not mounted.
_SUMMARY = "Unable to attach or mount volumes"
#: In Kueue's messages: a queue that was stopped, and a request that no quota allows.
_STOPPED = re.compile(r"Queue \S+ is (stopped|inactive)\b", re.ASCII)
_TOO_MUCH = "> maximum capacity"
_INVALID_IMAGE, _GATED = "InvalidImageName", "SchedulingGated"


def pods_wait(pods: Objects) -> Why | None:
    """Why the pods of a Job wait; None if nothing hinders them."""
    for pod in pods:
        scheduled = conditions(pod).get("PodScheduled")
        if scheduled is not None and scheduled.get("status") == "False":
            return _unscheduled(scheduled)
        status = pod.get("status") or {}
        kinds = ("initContainerStatuses", "containerStatuses")
        for container in (one for kind in kinds for one in status.get(kind) or ()):
            waiting = (container.get("state") or {}).get("waiting") or {}
            word = str(waiting.get("reason") or "")
            if word in CONTAINERS:
                text, passes = CONTAINERS[word]
                never = word == _INVALID_IMAGE
                return Why(_FETCHING.get(word, word), _detailed(text, waiting), passes=passes, never=never)
    return None


def ranks_wait(why: Why | None, count: int, ranks: int) -> Why:
    """Why ranks that run wait for the others. `why`: what is known of those."""
    text = f"{count} of {ranks} pods are there"
    if why is None:
        return Why("Ranks", f"{text}, and the others are being made", passes=True)
    return Why(why.word, f"{text}: {why.text}"[:_LONGEST], passes=why.passes, never=why.never)


def begun_word(word: str) -> str:
    """A pod's word in a list, also while its first container runs, as "Init:0/1", or waits."""
    if _FIRST.fullmatch(word):
        return "PodInitializing"
    return word.removeprefix("Init:")


def word_waits(word: str, node: str) -> Why | None:
    """The reason that a pod's word in a list gives, without a further read. `node`: its node, "" for none."""
    word = begun_word(word)
    if word in CONTAINERS:
        text, passes = CONTAINERS[word]
        word, never = _FETCHING.get(word, word), word == _INVALID_IMAGE
        return Why(word, text, passes=passes, never=never, is_brief=not passes)
    return None if node else _unscheduled({"reason": word if word == _GATED else ""})


def queue_waits(workload: Mapping[str, Any] | None, *, is_old: bool) -> Why | None:
    """Why Kueue does not admit a Job's Workload; None if it was admitted.

    `is_old`: whether Kueue has had the time to create the Workload. For a Job that it cannot handle, it
    creates none, without an error.
    """
    if workload is None:
        if not is_old:
            return Why("NoWorkload", "Kueue has not seen it yet", passes=True)
        text = "Kueue does not accept it: is there a WorkloadPriorityClass of that name, and does Kueue run?"
        return Why("NoWorkload", text)
    if (workload.get("spec") or {}).get("active") is False:
        return _DEACTIVATED
    if condition(workload, "Admitted") is not None:
        return None
    reserved, evicted = conditions(workload).get("QuotaReserved"), condition(workload, "Evicted")
    if reserved is not None and _is_stopped(reserved, evicted or {}):
        return Why("QueueStopped", _detailed("its queue is stopped on the cluster", reserved))
    if reserved is None:
        return Why("NoReservation", "Kueue has not looked at it yet", passes=True)
    if reserved.get("status") == "True":
        return Why("NotAdmitted", "its quota is reserved, and its queue waits for nodes", passes=True)
    word = str(reserved.get("reason") or "")
    if _TOO_MUCH in str(reserved.get("message") or ""):
        word = "ExceedsMaxQuota"  # an older Kueue says it in its message only
    text, never = _QUOTA.get(word, ("Kueue does not admit it yet", False))
    text = f"its nodes were taken away, and it runs again: {text}" if evicted and not never else text
    return Why(
        word or "NoReservation", _detailed(text, reserved), passes=word == "WaitingForQuota", never=never
    )


def _is_stopped(reserved: Mapping[str, Any], evicted: Mapping[str, Any]) -> bool:
    """Whether an administrator stopped its queue, as Kueue says in two ways."""
    is_evicted = str(evicted.get("reason") or "").endswith("QueueStopped")
    return reserved.get("status") == "False" and (
        is_evicted or _STOPPED.search(str(reserved.get("message") or "")) is not None
    )


def warnings_wait(events: Objects) -> Why | None:
    """Why a node does not make a pod, by its warnings; None if none of them says so."""
    warnings = [one for one in events if one.get("reason") in _WARNINGS]
    if not warnings:
        return None
    # Kubernetes repeats the cause in turn with the list of what is not mounted: the cause says more.
    latest = max(
        warnings,
        key=lambda one: (not str(one.get("message") or "").startswith(_SUMMARY), _time_of(one)),
    )
    reason = str(latest["reason"])
    return Why(reason, _detailed(_WARNINGS[reason], latest))


def events_wait(events: Objects) -> Why | None:
    """What keeps a Job from creating its pods, by its latest FailedCreate; None if there is none."""
    failed = [one for one in events if one.get("reason") == "FailedCreate"]
    if not failed:
        return None
    latest = max(failed, key=_time_of)
    message = str(latest.get("message") or "")
    if "exceeded quota" in message:
        return Why("QuotaExceeded", _detailed("a quota of its namespace is used up", latest))
    if "PriorityClass" in message:
        text = f"{NEVER}: its PriorityClass does not exist"
        return Why("NoPriorityClass", _detailed(text, latest), never=True)
    if "violates PodSecurity" in message:
        return Why("PodSecurity", _detailed(f"{NEVER}: its namespace forbids such pods", latest), never=True)
    return Why("FailedCreate", _detailed("its pods cannot be made", latest))


def _time_of(event: Mapping[str, Any]) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or "")


def _unscheduled(scheduled: Mapping[str, Any]) -> Why:
    word = str(scheduled.get("reason") or "Unschedulable")
    if word == _GATED:
        return Why(word, "its pods are held back by a gate", passes=True)
    message = str(scheduled.get("message") or "")
    # An autoscaler may still add such a node; the cluster never reports that it will not.
    if not message:
        return Why(word, "no node of the cluster can take it", is_brief=True)
    is_labels = "didn't match Pod's node affinity/selector" in message
    lacking = "the labels that it asks for" if is_labels else "what it asks for and is free"
    return Why(word, _detailed(f"no node of the cluster has {lacking}", scheduled))


def never_fits(resource: str, amount: int, most: int) -> Why:
    """Why pods that ask for more of a resource than any node has can never start."""
    text = f"{NEVER}: each of its pods asks for {amount} {resource}, and no node has more than {most}"
    return Why("Unschedulable", text, never=True)


def _detailed(text: str, origin: Mapping[str, Any]) -> str:
    message = _UNSTEADY.sub("", str(origin.get("message") or "")).strip().rstrip(".")
    return (f"{text} ({message})" if message else text)[:_LONGEST]
