"""The secrets of a local stack, kept in a private file from one start to the next."""

import json
import os
import secrets
from base64 import b64encode
from pathlib import Path


def kept_secrets(file: Path) -> dict[str, str]:
    """The stack's own secrets, made at the first start: sealed records stay readable after a restart."""
    if file.is_file():
        secret_texts: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
        return secret_texts
    fresh = {
        "webhook": "whsec_" + b64encode(secrets.token_bytes(32)).decode(),
        "seal": b64encode(secrets.token_bytes(32)).decode(),
    }
    write_private(file, fresh)
    return fresh


def write_private(file: Path, document: object) -> None:
    """Write a file that only its owner may read."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        json.dump(document, out, indent=2)
