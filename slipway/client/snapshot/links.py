"""Where the links of a folder lead, by which uploads judge them: their own names say nothing of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from shared.core.visible import escaped
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.snapshot.ignore_file import IgnoreFile
from slipway.client.snapshot.rules import Rules
from slipway.terminal.screen import say


def without_refused_links(folder: Path, names: Sequence[str], ignore: IgnoreFile, rules: Rules) -> list[str]:
    """These files of a folder, but for links to what does not become code; says which those are."""
    root = Path(os.path.realpath(folder))

    def is_left_out(path: str) -> bool:
        return ignore.fits(path) or not {"secret", "usual"}.isdisjoint(rules.reasons(path, root))

    refused = dict[str, str]()
    for name in names:
        if (folder / name).is_symlink():
            real = Path(os.path.realpath(folder / name))
            if text := refusal(rules, root, name, real, is_left_out):
                refused[name] = text
                say(f"left out: {escaped(name)}: {text}")
    return [name for name in names if name not in refused]


def refusal(rules: Rules, root: Path, name: str, real: Path, is_left_out: Callable[[str], bool]) -> str:
    """Why a link to `real` does not go along, if that lies in the folder by its path there; "" if it does."""
    if real.is_relative_to(root):
        inside = real.relative_to(root).as_posix()
        return f"it is a link to {escaped(inside)}, which is left out" if is_left_out(inside) else ""
    if secret := _secret_behind(rules, root, name):
        way_back = f"`!{escaped(name)}` in {IGNORE_FILE} takes it along"
        return f"it is a link to {secret}, which may be a secret; {way_back}"
    return ""


def _secret_behind(rules: Rules, root: Path, name: str) -> str:
    """The name of what may be a secret, of all that a link out of the folder leads by; "" if none is."""
    place = Path(root, name)
    while place.is_symlink():
        place = Path(os.path.realpath(place.parent), place.readlink())
        target = Path(os.path.realpath(place.parent), place.name)
        beyond = os.path.relpath(target, root).replace(os.sep, "/")
        if rules.secret_of_link(name, re.sub(r"^(?:\.\./)+", "", beyond)):
            return escaped(target.name)
    return ""
