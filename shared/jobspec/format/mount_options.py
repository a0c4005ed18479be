"""Options of blobfuse with which a mount opens the container that it names, and no other.

blobfuse takes the container, the account, a file with its settings and its folders from options, too; the
last one counts. So no mount has an option that names another container, account or file, and with a key that
is not the author's own, only options that do nothing of that are passed.
"""

from __future__ import annotations

import re

#: Those of blobfuse that concern how files are cached, listed and logged.
_HARMLESS = frozenset(
    (
        "--background-download",
        "--basic-remount-check",
        "--cache-on-list",
        "--cache-poll-timeout-msec",
        "--cache-size-mb",
        "--cancel-list-on-mount-seconds",
        "--empty-dir-check",
        "--file-cache-timeout-in-seconds",
        "--high-disk-threshold",
        "--log-level",
        "--low-disk-threshold",
        "--max-concurrency",
        "--max-eviction",
        "--no-symlinks",
        "--pre-mount-validate",
        "--set-content-type",
        "--upload-modified-only",
        "--use-attr-cache",
    )
)
#: Those that name another container or account than the mount, or its credentials, or a file with all of it.
_ELSEWHERE = re.compile(
    r"--?(?:account-key|account-name|config-file|container-name|sas-token|secure-config)(?![\w-])", re.ASCII
)
#: Options of FUSE, after -o.
_FUSE = re.compile(r"(?:[a-z_]+(?:=[A-Za-z0-9_.]+)?)(?:,[a-z_]+(?:=[A-Za-z0-9_.]+)?)*", re.ASCII)


def leading_elsewhere(text: str) -> str:
    """The first option that names something else than the mount, without its value; "" if there is none."""
    match = _ELSEWHERE.search(text)
    return match[0] if match else ""


def steering(text: str) -> str:
    """The first option that may change what is mounted, or with what; "" if there is none."""
    words = iter(text.split())
    for word in words:
        if word.startswith("-o"):
            value = word[2:] or next(words, "")
            if not _FUSE.fullmatch(value):
                return f"-o {value}"
        elif word != "--use-https=true" and word.partition("=")[0] not in _HARMLESS:
            return word
    return ""
