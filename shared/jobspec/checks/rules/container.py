"""The container's image and registry, and references to Key Vault anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.jobspec.checks.rules.context import Context
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import Node

#: Docker's grammar: an optional registry, a lowercase name, a tag, a digest.
_PART = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?=.{{1,512}}\Z)(?:(?:[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9][A-Za-z0-9-]*)*(?::[0-9]{{1,5}})?)/)?"
    rf"{_PART}(?:/{_PART})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?(?:@sha256:[0-9a-f]{{64}})?",
    re.ASCII,
)
_SCHEME = re.compile(r"(?:docker|oci)://", re.ASCII)
_REGISTRY = re.compile(
    r"(?:https?://)?[A-Za-z0-9][A-Za-z0-9.-]{0,252}(?::[0-9]{1,5})?(?:/[A-Za-z0-9._/-]{0,200})?"
)
#: As Docker reads it; the guide to Batch AI has 16gb.
_SHM_SIZE = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,6})?(?:b|[kmgt](?:i?b)?)?", re.ASCII | re.IGNORECASE)
#: Only the clouds' own vault hosts: the dispatcher's token must not travel anywhere else.
_SECRET_URL = re.compile(
    r"https://[A-Za-z][A-Za-z0-9-]{2,23}\.vault\.(?:azure\.net|azure\.cn|usgovcloudapi\.net|microsoftazure\.de)"
    r"/secrets/[A-Za-z0-9-]{1,127}(?:/[A-Za-z0-9]{1,64})?/?",
    re.ASCII,
)
_CLUSTER_ID = re.compile(r".*/providers/Microsoft\.BatchAI/workspaces/[^/]+/clusters/[^/]+", re.IGNORECASE)
_ARM_ID = re.compile(
    r"/subscriptions/[A-Za-z0-9-]{1,64}/resourceGroups/[-A-Za-z0-9_.()]{1,90}"
    r"/providers/[A-Za-z0-9.]{1,64}(?:/[A-Za-z0-9]{1,64}/[-A-Za-z0-9_.]{1,64}){1,4}/?",
    re.ASCII | re.IGNORECASE,
)


def is_arm_id(text: str) -> bool:
    """Whether the text is the full id of an Azure resource."""
    return bool(_ARM_ID.fullmatch(text))


def is_cluster_id(text: str) -> bool:
    """Whether the text is the full id of a cluster."""
    return is_arm_id(text) and bool(_CLUSTER_ID.fullmatch(text))


def container(context: Context) -> Iterator[Problem]:
    """Image, registry, its credentials, and the size of shared memory."""
    settings = context.properties.member("containerSettings")
    registry = settings.member("imageSourceRegistry")
    yield from _image(registry.member("image"))
    checks = (
        (
            registry.member("serverUrl"),
            _REGISTRY,
            "serverUrl is not the address of a registry",
            "write the registry's host, without user name and query",
        ),
        (settings.member("shmSize"), _SHM_SIZE, "shmSize is not a size", "write a size such as 256m or 2g"),
    )
    for node, form, message, remedy in checks:
        if node.text and not form.fullmatch(node.text):
            yield problem("SW017", node.pointer, message, remedy)
    credentials = registry.member("credentials")
    if isinstance(credentials.value, dict):
        yield from _exactly_one(credentials, "password", "passwordSecretReference")


def _image(node: Node) -> Iterator[Problem]:
    if not node.text or _IMAGE.fullmatch(node.text):
        return
    text = _SCHEME.sub("", node.text[:600].strip(), count=1)
    name, _, rest = text.partition(":") if "/" not in text.partition(":")[2] else (text, "", "")
    lower = name.lower() + (f":{rest}" if rest else "")
    right = next((one for one in (text, lower) if _IMAGE.fullmatch(one)), None)
    remedy = f'write "{right}"' if right else "write a name, for example ubuntu:22.04"
    fix = Fix("replace", node.pointer, right) if right else None
    yield problem("SW017", node.pointer, f"image {_flaw_of(node.text)}", remedy, fix=fix)


def _flaw_of(image: str) -> str:
    if "://" in image:
        return "is an address; it has to be the name of an image"
    if "@" in image:
        return "has an invalid digest; a digest is sha256: and 64 hexadecimal digits"
    if image.rpartition("/")[2].count(":") > 1:
        return "has two tags"
    if image.partition(":")[0] != image.partition(":")[0].lower():
        return "has capital letters, which the name of an image cannot have"
    return "is not the name of an image"


def key_vault_references(context: Context) -> Iterator[Problem]:
    """Secrets, and the references that may replace them."""
    registry = context.properties.member("containerSettings", "imageSourceRegistry")
    references = [
        registry.member("credentials", "passwordSecretReference"),
        *(mount.member("credentials", "accountKeySecretReference") for mount in context.mounts()),
    ]
    for secret in context.properties.member("secrets").each():
        references.append(secret.member("valueSecretReference"))
        if isinstance(secret.value, dict):
            yield from _exactly_one(secret, "value", "valueSecretReference")
    for reference in references:
        url, vault = reference.member("secretUrl"), reference.member("sourceVault", "id")
        if url.text and not _SECRET_URL.fullmatch(url.text):
            secure = url.text[:400].replace("http://", "https://", 1)
            fix = Fix("replace", url.pointer, secure) if _SECRET_URL.fullmatch(secure) else None
            message = "secretUrl is not the address of a Key Vault secret"
            yield problem("SW037", url.pointer, message, fix=fix)
        if vault.text and not (is_arm_id(vault.text) and "/microsoft.keyvault/vaults/" in vault.text.lower()):
            remedy = "write /subscriptions/…/resourceGroups/…/providers/Microsoft.KeyVault/vaults/NAME"
            yield problem("SW017", vault.pointer, "the id of the vault is not a full ARM id", remedy)
    for mount in context.mounts("fileServers"):
        server = mount.member("fileServer", "id")
        if server.text and not (is_arm_id(server.text) and "/fileservers/" in server.text.lower()):
            remedy = "write /subscriptions/…/providers/Microsoft.BatchAI/workspaces/…/fileServers/NAME"
            yield problem("SW017", server.pointer, "the id of the file server is not a full ARM id", remedy)


def _exactly_one(node: Node, value: str, reference: str) -> Iterator[Problem]:
    names = [name for name in (value, reference) if node.member(name).is_written]
    if len(names) != 1:
        both = f"{value} and {reference} are both given"
        message = both if names else f"neither {value} nor {reference} is given"
        yield problem("SW030", node.pointer, message)
