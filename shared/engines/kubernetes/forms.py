"""The forms of names and amounts in a Kubernetes cluster's options, as its API server takes them. Pure.

One that it refuses would fail every job of the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_PART = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
#: The value of a label that is not empty.
NAME = re.compile(_PART, re.ASCII)
_DOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_AMOUNT = re.compile(r"\d+(\.\d+)?([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?", re.ASCII)
_QUALIFIED = re.compile(rf"({_DOMAIN}/)?{_PART}", re.ASCII)
_LABEL_VALUE = re.compile(rf"({_PART})?", re.ASCII)
_OBJECT = re.compile(_DOMAIN, re.ASCII)
_LONGEST = 253


def refusals(
    amounts: Mapping[str, str],
    resource: str,
    selector: Mapping[str, str],
    objects: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """`option: what is wrong` for each. `objects`: option → names of objects of the namespace."""
    for option, text in amounts.items():
        if text and not _AMOUNT.fullmatch(text):
            yield f'{option}: {text!r} is not an amount: write it as Kubernetes does, "8", "500m" or "56Gi"'
    if not _QUALIFIED.fullmatch(resource):
        yield f"gpuResource: {resource!r} is not the name of a resource, as nvidia.com/gpu is"
    for key, value in selector.items():
        if not _QUALIFIED.fullmatch(key):
            yield f"nodeSelector: {key!r} is not the name of a label"
        elif not _LABEL_VALUE.fullmatch(value):
            yield f"nodeSelector: {key}: {value!r} is not the value of a label"
    for option, names in objects.items():
        for name in names:
            if len(name) > _LONGEST or not _OBJECT.fullmatch(name):
                yield f"{option}: {name!r} is not the name of an object: small letters, digits, '-' and '.'"
