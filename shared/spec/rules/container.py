"""The container's image and registry, and references to Key Vault wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.spec.codes import problem
from shared.spec.fix import Fix
from shared.spec.problem import Problem
from shared.spec.rules.context import Context
from shared.spec.tree import Node

#: No level is "..": an engine may take an image for a path.
_IMAGE = re.compile(r"(?!.*/\.\.(?:/|\Z))[A-Za-z0-9][A-Za-z0-9._/:@-]{0,511}", re.ASCII)
_REGISTRY = re.compile(
    r"(?:https?://)?[A-Za-z0-9][A-Za-z0-9.-]{0,252}(?::[0-9]{1,5})?(?:/[A-Za-z0-9._/-]{0,200})?"
)
_SHM_SIZE = re.compile(r"[0-9]{1,15}[bkmgBKMG]?", re.ASCII)
#: Only the clouds' own vault hosts: the dispatcher's token must not travel anywhere else.
_SECRET_URL = re.compile(
    r"https://[A-Za-z][A-Za-z0-9-]{2,23}\.vault\.(?:azure\.net|azure\.cn|usgovcloudapi\.net|microsoftazure\.de)"
    r"/secrets/[A-Za-z0-9-]{1,127}(?:/[A-Za-z0-9]{1,64})?/?",
    re.ASCII,
)
_ARM_ID = re.compile(
    r"/subscriptions/[A-Za-z0-9-]{1,64}/resourceGroups/[-A-Za-z0-9_.()]{1,90}"
    r"/providers/[A-Za-z0-9.]{1,64}(?:/[A-Za-z0-9]{1,64}/[-A-Za-z0-9_.]{1,64}){1,4}/?",
    re.ASCII | re.IGNORECASE,
)


def is_arm_id(text: str) -> bool:
    """Whether the text is the full id of an Azure resource."""
    return bool(_ARM_ID.fullmatch(text))


def container(context: Context) -> Iterator[Problem]:
    """Image, registry, its credentials, and the size of shared memory."""
    settings = context.properties.at("containerSettings")
    registry = settings.at("imageSourceRegistry")
    checks = (
        (
            registry.at("image"),
            _IMAGE,
            "image is not the name of an image",
            "write a name, for example ubuntu:22.04",
        ),
        (
            registry.at("serverUrl"),
            _REGISTRY,
            "serverUrl is not the address of a registry",
            "write the registry's host, without user name and query",
        ),
        (settings.at("shmSize"), _SHM_SIZE, "shmSize is not a size", "write a size such as 256m or 2g"),
    )
    for node, form, message, remedy in checks:
        if node.text and not form.fullmatch(node.text):
            yield problem("SW017", node.pointer, message, remedy)
    credentials = registry.at("credentials")
    if isinstance(credentials.value, dict):
        yield from _exactly_one(credentials, "password", "passwordSecretReference")


def key_vault_references(context: Context) -> Iterator[Problem]:
    """Secrets and the references that may stand in their place."""
    registry = context.properties.at("containerSettings", "imageSourceRegistry")
    references = [
        registry.at("credentials", "passwordSecretReference"),
        *(mount.at("credentials", "accountKeySecretReference") for mount in context.mounts()),
    ]
    for secret in context.properties.at("secrets").each():
        references.append(secret.at("valueSecretReference"))
        if isinstance(secret.value, dict):
            yield from _exactly_one(secret, "value", "valueSecretReference")
    for reference in references:
        url, vault = reference.at("secretUrl"), reference.at("sourceVault", "id")
        if url.text and not _SECRET_URL.fullmatch(url.text):
            secure = url.text[:400].replace("http://", "https://", 1)
            fix = Fix("replace", url.pointer, secure) if _SECRET_URL.fullmatch(secure) else None
            message = "secretUrl is not the address of a Key Vault secret"
            yield problem("SW037", url.pointer, message, fix=fix)
        if vault.text and not is_arm_id(vault.text):
            remedy = "write /subscriptions/…/resourceGroups/…/providers/Microsoft.KeyVault/vaults/NAME"
            yield problem("SW017", vault.pointer, "the id of the vault is not a full ARM id", remedy)
    for mount in context.mounts("fileServers"):
        server = mount.at("fileServer", "id")
        if server.text and not is_arm_id(server.text):
            remedy = "write /subscriptions/…/providers/Microsoft.BatchAI/workspaces/…/fileServers/NAME"
            yield problem("SW017", server.pointer, "the id of the file server is not a full ARM id", remedy)


def _exactly_one(node: Node, value: str, reference: str) -> Iterator[Problem]:
    given = [name for name in (value, reference) if node.at(name).given]
    if len(given) != 1:
        both = f"{value} and {reference} are both given"
        message = both if given else f"neither {value} nor {reference} is given"
        yield problem("SW030", node.pointer, message)
