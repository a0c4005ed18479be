"""What an account offers: images, applications, counts of nodes."""

from collections import Counter
from typing import Any

from aiohttp import web

from local.azurebatch.api.odata import page, page_of
from local.azurebatch.api.wire import Call, document
from local.azurebatch.state.errors import BatchError
from local.azurebatch.state.models import Node, Pool

_STATES = (
    "creating",
    "idle",
    "offline",
    "preempted",
    "rebooting",
    "reimaging",
    "running",
    "starting",
    "startTaskFailed",
    "leavingPool",
    "unknown",
    "unusable",
    "waitingForStartTask",
    "deallocated",
    "deallocating",
    "upgradingOS",
)
#: Publisher, offer, version, agent: current images for tasks with and without GPUs.
_IMAGES = (
    (
        "microsoft-dsvm",
        "ubuntu-hpc",
        "2404",
        "batch.node.ubuntu 24.04",
        ("SupportsRDMAOnly", "DockerCompatible"),
    ),
    (
        "microsoft-dsvm",
        "ubuntu-hpc",
        "2204",
        "batch.node.ubuntu 22.04",
        ("SupportsRDMAOnly", "DockerCompatible"),
    ),
    ("canonical", "ubuntu-24_04-lts", "server", "batch.node.ubuntu 24.04", ()),
    ("canonical", "0001-com-ubuntu-server-jammy", "22_04-lts", "batch.node.ubuntu 22.04", ()),
)
#: The end of support for an agent.
_ENDS = {"batch.node.ubuntu 22.04": "2027-06-30T00:00:00Z"}


async def images(call: Call) -> web.StreamResponse:
    """The images that pools may name. Nodes here always run the system of this machine."""
    return page_of(call, "supportedimages", enumerate(_IMAGES, 1), _image)


def _image(image: tuple[str, str, str, str, tuple[str, ...]]) -> dict[str, Any]:
    publisher, offer, sku, agent, capabilities = image
    reference = {"publisher": publisher, "offer": offer, "sku": sku, "version": "latest"}
    view: dict[str, Any] = {
        "nodeAgentSKUId": agent,
        "imageReference": reference,
        "osType": "linux",
        "verificationType": "verified",
    }
    if capabilities:
        view["capabilities"] = list(capabilities)
    if agent in _ENDS:
        view["batchSupportEndOfLife"] = _ENDS[agent]
    return view


async def agents(call: Call) -> web.StreamResponse:
    """The agents of nodes, each with its images: what versions before 2019-06-01.9.0 list in their place."""
    names = dict.fromkeys(image[3] for image in _IMAGES)
    return page_of(call, "accountlistnodeagentskusresult", enumerate(names, 1), _agent)


def _agent(name: str) -> dict[str, Any]:
    images_of = [_image(image)["imageReference"] for image in _IMAGES if image[3] == name]
    return {"id": name, "verifiedImageReferences": images_of, "osType": "linux"}


async def applications(call: Call) -> web.StreamResponse:
    """The list of application packages, which is empty."""
    return document(call, "applications", {"value": []})


async def application(_: Call) -> web.StreamResponse:
    """One application package; there are none."""
    raise BatchError(404, "ApplicationNotFound", "The specified application does not exist.")


async def node_counts(call: Call) -> web.StreamResponse:
    """The number of nodes in each state, for each pool."""
    return page(call, "poolnodecounts", call.store.pools.values(), lambda pool: _counts(call, pool))


def _counts(call: Call, pool: Pool) -> dict[str, Any]:
    of_kinds = {
        "dedicated": [node for node in pool.nodes if node.dedicated],
        "lowPriority": [node for node in pool.nodes if not node.dedicated],
    }
    counts = {kind: call.as_of("NodeCounts", _by_state(nodes)) for kind, nodes in of_kinds.items()}
    return {"poolId": pool.id, **counts}


def _by_state(nodes: list[Node]) -> dict[str, int]:
    totals = Counter(node.shown_state for node in nodes)
    counts = dict.fromkeys(_STATES, 0)
    for state in _STATES:
        counts[state] = sum(count for name, count in totals.items() if name == state.lower())
    return counts | {"total": len(nodes)}
