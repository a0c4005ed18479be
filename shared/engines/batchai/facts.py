"""The facts and the view of a Batch AI cluster: from its resource, and from an operator's settings. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.core.engine import ClusterView
from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts, Gpus
from shared.engines.options import checked, each_cluster, packages_of
from shared.jobspec import MOUNT_LISTS, duration_flaw, parse_duration

#: VM sizes with GPUs: one GPU for six cores, and GiB of memory for each GPU, less in the first NC and NV.
_GPU_SIZE = re.compile(r"(?:STANDARD_)?N(?P<kind>[CDV])(?P<cores>6|12|24)R?S?(?P<later>_V[23])?", re.ASCII)
_CORES, _MEMORY, _FIRST_MEMORY = 6, 112, 56
#: option → the kind of its value
_OPTIONS: Mapping[str, str] = {
    "mounted": "Sequence[str]",
    "maxNodes": "int",
    "gpus": "int",
    "nodeMemory": "int",
    "maxWallClock": "str",
    "packages": "Mapping[str, str]",
}


def view_of(name: str, properties: Mapping[str, Any]) -> ClusterView:
    """The view of a cluster resource, in the form of the port."""
    scale = properties.get("scaleSettings") or {}
    auto, manual = scale.get("autoScale") or {}, scale.get("manual") or {}
    states = properties.get("nodeStateCounts") or {}
    counts = {word.removesuffix("NodeCount"): int(n) for word, n in states.items()}
    facts = facts_of(properties)
    return ClusterView(
        name=name,
        engine="batchai",
        state=str(properties.get("allocationState", "unknown")),
        nodes=int(properties.get("currentNodeCount", 0)),
        counts=counts,
        minimum=auto.get("minimumNodeCount"),
        maximum=auto.get("maximumNodeCount", manual.get("targetNodeCount")),
        size=str(properties.get("vmSize", "")),
        errors=tuple(str(e.get("message", "")) for e in properties.get("errors") or []),
        priority=str(properties.get("vmPriority", "")).lower(),
        facts=facts,
        gpus=Gpus.of_nodes(counts, facts.gpus),
    )


def facts_of(properties: Mapping[str, Any]) -> ClusterFacts:
    """The facts in a cluster resource."""
    scale = properties.get("scaleSettings") or {}
    auto, manual = scale.get("autoScale") or {}, scale.get("manual") or {}
    gpus, memory = _hardware(str(properties.get("vmSize", "")))
    return ClusterFacts(
        mounts=_mounts(properties.get("nodeSetup") or {}),
        max_nodes=auto.get("maximumNodeCount", manual.get("targetNodeCount")),
        gpus=gpus,
        memory=memory,
        size=str(properties.get("vmSize", "")),
        priority=str(properties.get("vmPriority", "")).lower(),
    )


def configured(document: Any, setting: str) -> dict[str, ClusterFacts]:
    """The facts of a JSON object: name of a cluster → its options. Raises Misconfigured."""
    return {name: _configured(options, place) for name, options, place in each_cluster(document, setting)}


def _configured(value: Any, place: str) -> ClusterFacts:
    options = checked(value, place, _OPTIONS)
    written = options.get("maxWallClock")
    longest = parse_duration(written) if written else None
    if written and not longest:
        flaw = duration_flaw(written) or "has no length"
        raise Misconfigured(f"{place}: maxWallClock {flaw}; write one such as P1D or PT12H")
    return ClusterFacts(
        mounts=frozenset(options["mounted"]) if "mounted" in options else None,
        max_nodes=options.get("maxNodes"),
        gpus=options.get("gpus"),
        memory=options.get("nodeMemory"),
        longest=longest,
        packages=packages_of(options.get("packages") or {}, place),
    )


def _mounts(setup: Mapping[str, Any]) -> frozenset[str] | None:
    """The mounts of the nodes; unknown if a setup command runs on them, which may mount anything."""
    if setup.get("setupTask"):
        return None
    volumes = setup.get("mountVolumes") or {}
    entries = [entry for name in MOUNT_LISTS for entry in volumes.get(name) or ()]
    return frozenset(str(entry["relativeMountPath"]) for entry in entries)


class _Hardware(NamedTuple):
    """The GPUs of a node and its memory in MiB; None if the VM size is not known here."""

    gpus: int | None
    memory: int | None


def _hardware(size: str) -> _Hardware:
    """The GPUs and MiB of a node; None for VM sizes that are not known here."""
    match = _GPU_SIZE.fullmatch(size.upper())
    if match is None:
        return _Hardware(None, None)
    gpus = int(match["cores"]) // _CORES
    first = match["kind"] in "CV" and match["later"] is None
    return _Hardware(gpus, gpus * (_FIRST_MEMORY if first else _MEMORY) * 1024)
