"""Mounts: where they appear, what they mount, and with which credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.spec.codes import problem
from shared.spec.fix import Fix
from shared.spec.mounts import ACCOUNT_MOUNT_LISTS
from shared.spec.problem import Problem
from shared.spec.rules.context import Context
from shared.spec.tree import Node, shown

_LEVEL = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_MOUNT_PATH = re.compile(rf"{_LEVEL}(?:/{_LEVEL})*", re.ASCII)
_HOST = r"(?P<account>[A-Za-z0-9-]{1,63})(?:\.[A-Za-z0-9-]{1,63}){1,10}"
_FILE_URL = re.compile(rf"https://{_HOST}/[a-z0-9][a-z0-9-]{{1,61}}[a-z0-9](?:/{_LEVEL})*/?", re.ASCII)
_ACCOUNT = re.compile(r"[a-z0-9]{3,24}", re.ASCII)
_CONTAINER = re.compile(r"[a-z0-9](?:-?[a-z0-9])+", re.ASCII)
_MODE = re.compile(r"[0-7]{3,4}", re.ASCII)
#: Options become arguments of a mount program; no shell reads them, and none needs to.
_OPTIONS = re.compile(r"[A-Za-z0-9 _=,.:/@+-]*", re.ASCII)
_LONGEST_PATH = 256
_LONGEST_URL = 1024


def mount_paths(context: Context) -> Iterator[Problem]:
    """Relative, plain, and each used once."""
    seen: set[str] = set()
    for mount in context.mounts():
        node = mount.at("relativeMountPath")
        if not node.text or len(node.text) > _LONGEST_PATH:
            continue
        if not _MOUNT_PATH.fullmatch(node.text):
            right = node.text.strip().strip("/")
            fix = Fix("replace", node.pointer, right) if _MOUNT_PATH.fullmatch(right) else None
            message = f"{shown(node.text)} cannot be a relativeMountPath"
            yield problem("SW031", node.pointer, message, fix=fix)
        elif node.text in seen:
            yield problem("SW032", node.pointer, f"two mounts have the relativeMountPath {shown(node.text)}")
        seen.add(node.text)


def file_shares(context: Context) -> Iterator[Problem]:
    """The address of a share; its host begins with the account. Never quoted: it may hold a SAS."""
    for mount in context.mounts("azureFileShares"):
        node = mount.at("azureFileUrl")
        if not node.text:
            continue
        found = _FILE_URL.fullmatch(node.text) if len(node.text) <= _LONGEST_URL else None
        if not found:
            flaw = "must not have a query" if "?" in node.text else "is not the address of a share"
            secure = node.text.replace("http://", "https://", 1)
            certain = len(secure) <= _LONGEST_URL and _FILE_URL.fullmatch(secure)
            fix = Fix("replace", node.pointer, secure) if certain else None
            yield problem("SW035", node.pointer, f"azureFileUrl {flaw}", fix=fix)
        elif mount.at("accountName").text not in (None, found["account"]):
            message = "accountName is not the first part of the host in azureFileUrl"
            yield problem("SW036", mount.at("accountName").pointer, message, severity="warning")


def storage_names(context: Context) -> Iterator[Problem]:
    """Names of accounts and containers, as Azure Storage allows them."""
    for mount in context.mounts(*ACCOUNT_MOUNT_LISTS):
        account = mount.at("accountName")
        if account.text and not _ACCOUNT.fullmatch(account.text):
            message = "accountName has to be 3 to 24 lower-case letters and digits"
            yield problem("SW036", account.pointer, message, fix=_lower(account, _ACCOUNT))
        container = mount.at("containerName")
        if container.text and not (3 <= len(container.text) <= 63 and _CONTAINER.fullmatch(container.text)):
            message = "containerName has to be 3 to 63 lower-case letters, digits and single dashes"
            yield problem("SW036", container.pointer, message, fix=_lower(container, _CONTAINER))


def _lower(node: Node, form: re.Pattern[str]) -> Fix | None:
    """Azure Storage has no capitals, so there is only one name that can be meant."""
    right = (node.text or "")[:64].strip().lower()
    fits = 3 <= len(right) <= 63 and form.fullmatch(right)
    return Fix("replace", node.pointer, right) if fits else None


def modes_and_options(context: Context) -> Iterator[Problem]:
    """What is handed to the mount program."""
    for mount in context.mounts():
        for name in ("fileMode", "directoryMode"):
            node = mount.at(name)
            if node.text is not None and not _MODE.fullmatch(node.text):
                remedy = "write three or four octal digits, for example 0777"
                yield problem("SW017", node.pointer, f"{name} has to be an octal mode", remedy)
        node = mount.at("mountOptions")
        if node.text and not _OPTIONS.fullmatch(node.text):
            remedy = "write options as mount takes them, for example rw,nolock"
            yield problem("SW017", node.pointer, "mountOptions has characters that no option needs", remedy)


def mount_commands(context: Context) -> Iterator[Problem]:
    """A mount command runs as root on the node."""
    for mount in context.mounts("unmanagedFileSystems"):
        if not context.limits.unmanaged_mounts:
            yield problem("SW038", mount.pointer, "mount commands of one's own are not allowed here")


def credentials(context: Context) -> Iterator[Problem]:
    """One key or one reference; or none, if the account's key is known when the job is submitted."""
    for mount in context.mounts(*ACCOUNT_MOUNT_LISTS):
        node = mount.at("credentials")
        key, reference = node.at("accountKey"), node.at("accountKeySecretReference")
        if key.given and reference.given:
            message = "accountKey and accountKeySecretReference are both given"
            yield problem("SW030", node.pointer, message)
        elif not key.given and not reference.given:
            yield from _known_account(context, mount)


def _known_account(context: Context, mount: Node) -> Iterator[Problem]:
    account = mount.at("accountName").text
    if context.accounts is not None and account and account not in context.accounts:
        message = "the mount has no credentials, and no key is configured for its storage account"
        yield problem("SW039", mount.pointer, message)
