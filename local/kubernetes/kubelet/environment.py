"""The environment of a pod's container."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from local.kubernetes.api import Api

#: $(NAME) in a command or a value; $$ stands for a dollar.
_REFERENCE = re.compile(r"\$\$|\$\(([^()$]+)\)")
_KINDS = {"configMap": "configmaps", "secret": "secrets"}


class NotYet(Exception):
    """A pod needs something that is not there: it waits for it. `reason` is Kubernetes' word for that."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


async def environment(
    api: Api, pod: Mapping[str, Any], container: Mapping[str, Any], address: str, path: str
) -> dict[str, str]:
    """The variables of one of its containers, as Kubernetes makes them. Raises NotYet."""
    meta = pod["metadata"]
    values = {"PATH": path, "HOSTNAME": hostname(pod), "HOME": "/"}
    for source in container.get("envFrom") or ():
        for kind in _KINDS:
            if f"{kind}Ref" in source:
                entries = await texts(api, meta["namespace"], kind, source[f"{kind}Ref"])
                values |= {f"{source.get('prefix', '')}{key}": value for key, value in entries.items()}
    for variable in container.get("env") or ():
        origin = variable.get("valueFrom")
        if origin:
            text = await _value(api, pod, origin, address)
        else:
            text = expand(variable.get("value", ""), values)
        if text is not None:
            values[variable["name"]] = text
    return values


async def texts(api: Api, namespace: str, kind: str, reference: Mapping[str, Any]) -> dict[str, str]:
    """The entries of a ConfigMap or a Secret. Raises NotYet where it is not there and not optional."""
    return {
        key: value.decode("utf-8", "surrogateescape")
        for key, value in (await contents(api, namespace, kind, reference)).items()
    }


async def contents(api: Api, namespace: str, kind: str, reference: Mapping[str, Any]) -> dict[str, bytes]:
    """The same as bytes."""
    name = reference.get("name") or reference.get("secretName")
    source = await api.find(f"/api/v1/namespaces/{namespace}/{_KINDS[kind]}/{name}")
    if source is None:
        if reference.get("optional"):
            return {}
        raise NotYet("CreateContainerConfigError", f'{kind.lower()} "{name}" not found')
    data = source.get("data") or {}
    if kind == "secret":
        return {key: base64.b64decode(text) for key, text in data.items()}
    packed = source.get("binaryData") or {}
    return {key: text.encode() for key, text in data.items()} | {
        key: base64.b64decode(text) for key, text in packed.items()
    }


def hostname(pod: Mapping[str, Any]) -> str:
    """The name of the pod as a machine."""
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"])[:63]


def expand(text: str, values: Mapping[str, str]) -> str:
    """The text with $(NAME) replaced where the name is known."""
    return _REFERENCE.sub(lambda match: values.get(match[1], match[0]) if match[1] else "$", text)


async def _value(api: Api, pod: Mapping[str, Any], origin: Mapping[str, Any], address: str) -> str | None:
    if "fieldRef" in origin:
        return field(pod, origin["fieldRef"]["fieldPath"], address)
    for kind in _KINDS:
        if f"{kind}KeyRef" in origin:
            reference = origin[f"{kind}KeyRef"]
            entries = await texts(api, pod["metadata"]["namespace"], kind, reference)
            if reference["key"] in entries or reference.get("optional"):
                return entries.get(reference["key"])
            message = f"couldn't find key {reference['key']} in {kind} {reference['name']}"
            raise NotYet("CreateContainerConfigError", message)
    raise NotYet("CreateContainerConfigError", f"a node here knows no {', '.join(origin)}")


def field(pod: Mapping[str, Any], path: str, address: str) -> str:
    """One field of a pod, by the path that a fieldRef gives."""
    if match := re.fullmatch(r"metadata\.(labels|annotations)\['([^']+)'\]", path):
        return str((pod["metadata"].get(match[1]) or {}).get(match[2], ""))
    if path in ("status.podIP", "status.hostIP"):
        return address if path == "status.podIP" else "127.0.0.1"
    value: Any = pod
    for name in path.split("."):
        value = value.get(name, "") if isinstance(value, Mapping) else ""
    return str(value)
