"""Keys of storage accounts: filled in at submission, for the account's own host only; never stored."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from shared.jobspec.format.mount_options import steering
from shared.jobspec.format.mounts import ACCOUNT_MOUNT_LISTS
from shared.jobspec.format.storage_hosts import CLOUDS, share_host
from shared.jobspec.text.tree import JsonObject, Node, copied

#: The option of blobfuse for a container that is only read.
READ_ONLY = "-o ro"


def with_credentials(
    document: JsonObject,
    keys: Mapping[str, str],
    suffix: str = CLOUDS[0],
    mountable: Collection[str] | None = None,
    read_only: str | None = None,
) -> JsonObject:
    """The document, whose mounts without credentials have their account's key from `keys` (account → key).

    `mountable`: the containers and shares that get it, if no option could name another; None for all.
    `read_only`: the container that jobs only read, since others' jobs run what is in it. A share gets none if
    its address has another host than the account's in the cloud of this `suffix`: the address is the author's
    choice, the key is the operator's. A container names no host.
    Returns a copy, or the document itself if nothing changes.
    """
    if next(_without_credentials(document), None) is None:
        return document
    whole: JsonObject = copied(document)
    for mount in _without_credentials(whole):
        account, options = mount.member("accountName").text or "", mount.member("mountOptions").text or ""
        if mountable is not None and (volume_name(mount) not in mountable or steering(options)):
            continue
        if read_only is not None and mount.member("containerName").text == read_only:
            # Without a key, too: the identity of the nodes may open it.
            mount.value["mountOptions"] = f"{options} {READ_ONLY}".lstrip()
        key = keys.get(account)
        if key is not None and _is_at_home(mount, account, suffix):
            mount.value["credentials"] = {"accountKey": key}
    return whole


def closed_mount(document: JsonObject, mountable: Collection[str], directories: Collection[str]) -> str:
    """The first mount that a job may not have, as people name it; "" if it may have all.

    `mountable`: the containers and shares that the job may have by what is not its own; `directories`: the
    keys (`directory_key`) of what the nodes have a directory for.
    """
    for mount in _mounts(document):
        name = volume_name(mount)
        if name not in mountable and (has_no_credentials(mount) or volume_key(mount) in directories):
            return f"{name} in {mount.member('accountName').text}"
    return ""


def has_no_credentials(mount: Node) -> bool:
    """Whether the mount leaves its credentials to the deployment."""
    written = mount.member("credentials").value
    return written is None or (isinstance(written, dict) and not any(written.values()))


def directory_key(address: str) -> str:
    """The address of a share, ACCOUNT/CONTAINER, or id of a file server, as two are compared."""
    return address.rstrip("/").lower()


def volume_key(mount: Node) -> str:
    """What a mount of an account mounts, as a cluster's table of directories names it; "" for nothing."""
    if container := mount.member("containerName").text:
        return directory_key(f"{mount.member('accountName').text}/{container}")
    return directory_key(mount.member("azureFileUrl").text or "")


def volume_name(mount: Node) -> str:
    """The container or share of a mount of an account; "" if it names none."""
    if (container := mount.member("containerName").text) is not None:
        return container
    host = share_host(mount.member("azureFileUrl").text or "")
    return host.share if host else ""


def _is_at_home(mount: Node, account: str, suffix: str) -> bool:
    url = mount.member("azureFileUrl")
    if not url.is_written:
        return True
    host = share_host(url.text or "")
    return host is not None and host.belongs_to(account, (suffix,))


def _without_credentials(document: JsonObject) -> Iterator[Node]:
    return filter(has_no_credentials, _mounts(document))


def _mounts(document: JsonObject) -> Iterator[Node]:
    volumes = Node("", document).member("properties", "mountVolumes")
    for name in ACCOUNT_MOUNT_LISTS:
        yield from (mount for mount in volumes.member(name).each() if isinstance(mount.value, dict))
