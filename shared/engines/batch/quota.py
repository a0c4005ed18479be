"""The cores that a Batch account may use, and how many nodes of a size that allows. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: A size as Azure names it: series, cores of a node, features, accelerator and version (`NC4as_T4_v3`).
_SIZE = re.compile(r"standard_([a-z]+)(\d+)([a-z0-9_]*)")
#: Feature letters of sizes for RDMA, and of those that fill their host, which belong to another family.
_APART = re.compile(r"[ri]")
#: The series of the first A100 nodes has no accelerator in its name, but its family has.
_ALIASES: Mapping[str, str] = {"ndas v4": "ndasa100 v4"}
#: The fixed parts of the names of families (`standardNCASv3_T4Family`).
_DECORATION, _VERSION = re.compile(r"^standard|family$|[\s_]"), re.compile(r"v\d+")


@dataclass(frozen=True)
class Quota:
    """The cores that an account may use at once for nodes of one size."""

    account: str
    cores: int
    #: what shares these cores, e.g. a family of sizes
    kind: str
    size: str
    #: of one node
    node_cores: int

    @property
    def nodes(self) -> int:
        """How many nodes may run at once, if no other pool of the account has any."""
        return self.cores // self.node_cores

    def __str__(self) -> str:
        """The quota as a clause."""
        nodes = f"{self.nodes} node{'' if self.nodes == 1 else 's'} of {self.size}"
        return f"the quota of the account {self.account} is {self.cores} cores for {self.kind}: {nodes}"

    def trouble(self, most: int) -> str:
        """What to ask Azure for, if `most` nodes exceed the quota; otherwise ""."""
        return f"{self}; for {most} ask Azure for {most * self.node_cores}" if most > self.nodes else ""


def quota_of(account: str, properties: Mapping[str, Any], size: str, *, spot: bool) -> Quota | None:
    """The quota for nodes of this size, by the properties of an account; None if they do not show it.

    Accounts whose nodes count as machines of the subscription have no quota of their own.
    """
    match = _SIZE.fullmatch(size.lower().removesuffix("_promo"))
    if match is None or not int(match[2]) or properties.get("poolAllocationMode") == "UserSubscription":
        return None
    named = _spot(properties) if spot else _dedicated(properties, match[1] + match[3])
    limits = [(value, kind) for value, kind in named if type(value) is int and value >= 0]
    if not limits:
        return None
    cores, kind = min(limits)
    return Quota(account, cores, kind, size, int(match[2]))


def _spot(properties: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    yield properties.get("lowPriorityCoreQuota"), "spot nodes"


def _dedicated(properties: Mapping[str, Any], series: str) -> Iterator[tuple[Any, str]]:
    """The account's own limit, and that of the family if Azure applies it; none if it is unknown."""
    families = properties.get("dedicatedCoreQuotaPerVMFamily")
    is_enforced = properties.get("dedicatedCoreQuotaPerVMFamilyEnforced") is not False
    if is_enforced and isinstance(families, list) and families:
        quotas = {str(one.get("name")): one.get("coreQuota") for one in families if isinstance(one, Mapping)}
        name = _family(quotas, series)
        if type(quotas.get(name)) is not int:
            return
        yield quotas[name], name
    yield properties.get("dedicatedCoreQuota"), "dedicated nodes"


def _family(names: Iterable[str], series: str) -> str:
    """The family of a series; "" if it is not known."""
    by_form = {_comparable(name): name for name in names}
    features, _, rest = series.partition("_")
    own, common = _comparable(series), _comparable(f"{_APART.sub('', features)}_{rest}")
    forms = (own, common, _ALIASES.get(own, ""), _ALIASES.get(common, ""))
    return next((by_form[one] for one in forms if one in by_form), "")


def _comparable(name: str) -> str:
    """A name with its version last; families and sizes have it in different places."""
    plain = _DECORATION.sub("", name.lower())
    return " ".join((_VERSION.sub("", plain), *_VERSION.findall(plain)))
