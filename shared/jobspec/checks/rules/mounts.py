"""Mounts: where they appear, what they mount, and with which credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.jobspec.checks.rules.context import Context
from shared.jobspec.checks.rules.platform import is_platform
from shared.jobspec.format.credentials import has_no_credentials, volume_key, volume_name
from shared.jobspec.format.mount_options import leading_elsewhere, steering
from shared.jobspec.format.mounts import ACCOUNT_MOUNT_LISTS
from shared.jobspec.format.storage_hosts import CLOUDS, ShareHost, is_bad_share_name, share_host
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import Node, quote

_LEVEL = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_MOUNT_PATH = re.compile(rf"{_LEVEL}(?:/{_LEVEL})*", re.ASCII)
_ACCOUNT = re.compile(r"[a-z0-9]{3,24}", re.ASCII)
_CONTAINER = re.compile(r"[a-z0-9](?:-?[a-z0-9])+", re.ASCII)
_MODE = re.compile(r"[0-7]{3,4}", re.ASCII)
#: Options become arguments of a mount program, without a shell.
_OPTIONS = re.compile(r"[A-Za-z0-9 _=,.:/@+-]*", re.ASCII)
#: The separators between a host and the rest of an option or a command.
_AROUND_HOSTS = re.compile(r"[\s,=@\"'/?#\[\]]+")
_LONGEST_PATH = 256
#: Other services of a storage account, as in the host of an address.
_OTHER_SERVICES = ("blob", "dfs", "queue", "table", "web")


def mount_paths(context: Context) -> Iterator[Problem]:
    """Mount paths are relative, plain, used once, and not inside another one, which would hide it.

    Nor do they hide the code of the job, which a node would refuse.
    """
    paths: set[str] = set()
    whole = context.job_mounted
    for mount in context.mounts():
        node = mount.member("relativeMountPath")
        if not node.text or len(node.text) > _LONGEST_PATH:
            continue
        if not _MOUNT_PATH.fullmatch(node.text):
            right = node.text.strip().strip("/")
            fix = Fix("replace", node.pointer, right) if _MOUNT_PATH.fullmatch(right) else None
            message = f"{quote(node.text)} cannot be a relativeMountPath"
            yield problem("SW031", node.pointer, message, fix=fix)
        elif node.text in paths:
            yield problem("SW032", node.pointer, f"two mounts have the relativeMountPath {quote(node.text)}")
        elif whole.covers(node.text.rpartition("/")[0]):
            yield problem("SW032", node.pointer, f"{quote(node.text)} is inside another mount of the job")
        elif f"{context.code_folder}/".startswith(f"{node.text}/"):
            message = f"the mount would hide the code of the job, at {quote(context.code_folder)}"
            yield problem("SW032", node.pointer, message)
        paths.add(node.text)


def file_shares(context: Context) -> Iterator[Problem]:
    """The address of a share; its host begins with the account. Never quoted: it may hold a SAS."""
    for mount in context.mounts("azureFileShares"):
        node = mount.member("azureFileUrl")
        if not node.text:
            continue
        host = share_host(node.text)
        if host is None:
            flaw, remedy = (
                "must not have a query" if "?" in node.text else "is not the address of a share",
                None,
            )
            if is_bad_share_name(node.text):
                flaw, remedy = (
                    "names no share",
                    "its name has 3 to 63 lowercase letters, digits and single dashes",
                )
            fix = next(
                (Fix("replace", node.pointer, one) for one in _likely_meanings(node.text) if share_host(one)),
                None,
            )
            yield problem("SW035", node.pointer, f"azureFileUrl {flaw}", remedy, fix=fix)
        else:
            yield from _of_account(context, mount, node, host)


def _likely_meanings(url: str) -> tuple[str, ...]:
    """The addresses that are certainly meant: Azure Storage allows no capitals, and no share without TLS."""
    secure = url.replace("http://", "https://", 1)
    if not is_bad_share_name(secure):
        return (secure,)
    *host, share, below = f"{secure}/".split("/", 4)
    return secure, "/".join((*host, share.lower(), below)).removesuffix("/")


def _of_account(context: Context, mount: Node, url: Node, host: ShareHost) -> Iterator[Problem]:
    """Check that the share belongs to the account. A mount with its own credentials may be at any host."""
    account, service = mount.member("accountName"), host.rest.partition(".")[0]
    clouds = CLOUDS if context.storage_suffix is None else (context.storage_suffix,)
    unfilled = has_no_credentials(mount)
    if service in _OTHER_SERVICES:
        remedy = (
            "write https://ACCOUNT.file.core.windows.net/SHARE, or mount a container in azureBlobFileSystems"
        )
        yield problem(
            "SW035", url.pointer, f"azureFileUrl names a host for {service}, not for shares", remedy
        )
    elif unfilled and not host.belongs_to(host.account, clouds):
        message = "azureFileUrl is not at the account's own host, and its key is filled in only there"
        remedy = f"write https://ACCOUNT.file.{clouds[0]}/SHARE, or give credentials with the mount"
        yield problem("SW035", url.pointer, message, remedy)
    if account.text not in (None, host.account):
        message = "accountName is not the first part of the host in azureFileUrl"
        yield problem("SW036", account.pointer, message, severity="error" if unfilled else "warning")


def storage_names(context: Context) -> Iterator[Problem]:
    """Names of accounts and containers, as Azure Storage allows them."""
    for mount in context.mounts(*ACCOUNT_MOUNT_LISTS):
        account = mount.member("accountName")
        if account.text and not _ACCOUNT.fullmatch(account.text):
            message = "accountName has to be 3 to 24 lowercase letters and digits"
            yield problem("SW036", account.pointer, message, fix=_lower(account, _ACCOUNT))
        container = mount.member("containerName")
        if container.text and not (3 <= len(container.text) <= 63 and _CONTAINER.fullmatch(container.text)):
            message = "containerName has to be 3 to 63 lowercase letters, digits and single dashes"
            yield problem("SW036", container.pointer, message, fix=_lower(container, _CONTAINER))


def _lower(node: Node, form: re.Pattern[str]) -> Fix | None:
    """Azure Storage allows no capitals, so only one name can be meant."""
    right = (node.text or "")[:64].strip().lower()
    fits = 3 <= len(right) <= 63 and form.fullmatch(right)
    return Fix("replace", node.pointer, right) if fits else None


def modes_and_options(context: Context) -> Iterator[Problem]:
    """The arguments of the mount program."""
    for mount in context.mounts():
        for name in ("fileMode", "directoryMode"):
            node = mount.member(name)
            if node.text is not None and not _MODE.fullmatch(node.text):
                remedy = "write three or four octal digits, for example 0777"
                yield problem("SW017", node.pointer, f"{name} has to be an octal mode", remedy)
        node = mount.member("mountOptions")
        if node.text and not _OPTIONS.fullmatch(node.text):
            remedy = "write options as mount takes them, for example rw,nolock"
            yield problem("SW017", node.pointer, "mountOptions has characters that no option needs", remedy)


def mount_addresses(context: Context) -> Iterator[Problem]:
    """No file server may have an address of the nodes' platform, whose answers may hold credentials."""
    for mount in context.mounts("fileServers", "unmanagedFileSystems"):
        for node in (mount.member("mountOptions"), mount.member("mountCommand")):
            if any(map(is_platform, _hosts(node.text or ""))):
                yield problem("SW081", node.pointer, "this is an address of the nodes' own platform")


def _hosts(text: str) -> Iterator[str]:
    """Every text that may be a host, with a port and without."""
    for word in _AROUND_HOSTS.split(text):
        yield word.rstrip(":")
        yield word.partition(":")[0]


def mount_commands(context: Context) -> Iterator[Problem]:
    """A mount command runs as root on the node."""
    for mount in context.mounts("unmanagedFileSystems"):
        if not context.limits.unmanaged_mounts:
            yield problem("SW038", mount.pointer, "custom mount commands are not allowed here")


def credentials(context: Context) -> Iterator[Problem]:
    """One key or one reference; or none, for what the deployment opens.

    A directory of the nodes asks for no key, so what they have one for is judged with any key.
    """
    for mount in context.mounts(*ACCOUNT_MOUNT_LISTS):
        options = mount.member("mountOptions")
        if option := leading_elsewhere(options.text or ""):
            message = f"{option} names another container, account or file of settings than the mount"
            yield problem(
                "SW082", options.pointer, message, "name it in the mount itself, and leave this out"
            )
        container = mount.member("containerName")
        if container.text and (mount.member("accountName").text, container.text) == context.limits.all_code:
            message = f"{quote(container.text)} has the code of all jobs, and no job mounts it"
            yield problem(
                "SW082", container.pointer, message, "leave it out: $SLIPWAY_CODE has the job's own"
            )
            continue
        node = mount.member("credentials")
        key, reference = node.member("accountKey"), node.member("accountKeySecretReference")
        if key.is_written and reference.is_written:
            message = "accountKey and accountKeySecretReference are both given"
            yield problem("SW030", node.pointer, message)
        elif volume_key(mount) in context.directories:
            yield from _mountable(context, mount, "the nodes have a directory for it, which asks for no key")
        elif not key.is_written and not reference.is_written:
            yield from _unkeyed(context, mount)


def _unkeyed(context: Context, mount: Node) -> Iterator[Problem]:
    account, accounts = mount.member("accountName").text or "", context.accounts
    if accounts is not None and _ACCOUNT.fullmatch(account) and account not in accounts:
        message = "the mount does not name credentials, and no key is configured for its storage account"
        yield problem("SW039", mount.pointer, message)
        return
    options = mount.member("mountOptions")
    text = options.text or ""
    if context.limits.mountable is not None and not leading_elsewhere(text) and (option := steering(text)):
        message = f"{quote(option)} may change what is mounted with the deployment's own key"
        yield problem("SW082", options.pointer, message, "leave it out, or give credentials with the mount")
    yield from _mountable(context, mount, "")


def _mountable(context: Context, mount: Node, why: str) -> Iterator[Problem]:
    """The deployment opens what it names, and never what it keeps itself.

    `why`: the reason why credentials of the job's own would open nothing; "" if they would.
    """
    name, named, account = volume_name(mount), context.limits.mountable, mount.member("accountName").text
    if named is None or not name or not account or name in named:
        return
    container = mount.member("containerName")
    node = container if container.is_written else mount.member("azureFileUrl")
    message = f"{quote(name)} in {account} is not among what this deployment lets jobs mount"
    message += f": {why}" if why else " with its own key"
    remedy = f"mount {', '.join(sorted(named))}" + ("" if why else ", or give credentials with the mount")
    if name == context.limits.teams_drops:
        message = f"{quote(name)} has the drops of all teams, and a job of a team gets no key for them"
        remedy = (
            "leave it out: a drop has its own folder there without it; other folders go by `slipway run`, "
            "data by `slipway data put`"
        )
    yield problem("SW082", node.pointer, message, remedy)
