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
        account = mount.member("accountName").text or ""
        key = keys.get(account)
        allowed = mountable is None or (
            volume_name(mount) in mountable and not steering(mount.member("mountOptions").text or "")
        )
        if key is not None and allowed and _is_at_home(mount, account, suffix):
            mount.value["credentials"] = {"accountKey": key}
            if read_only is not None and mount.member("containerName").text == read_only:
                options = mount.member("mountOptions").text or ""
                mount.value["mountOptions"] = f"{options} {READ_ONLY}".lstrip()
    return whole


def has_no_credentials(mount: Node) -> bool:
    """Whether the mount leaves its credentials to the deployment."""
    written = mount.member("credentials").value
    return written is None or (isinstance(written, dict) and not any(written.values()))


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
    volumes = Node("", document).member("properties", "mountVolumes")
    for name in ACCOUNT_MOUNT_LISTS:
        for mount in volumes.member(name).each():
            if isinstance(mount.value, dict) and has_no_credentials(mount):
                yield mount
