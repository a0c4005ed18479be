"""Profiles: the deployments that a person works with. `slipway login` keeps them in a private file."""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from slipway.failure import UNKNOWN, Failure


@dataclass(frozen=True)
class Profile:
    """A deployment: its address, and a function key or the scope of its tokens of Entra ID."""

    url: str
    key: str = field(default="", repr=False)
    scope: str = ""


@dataclass(frozen=True)
class Profiles:
    """All profiles of a person by name, and the name of the current one; "" for none."""

    by_name: Mapping[str, Profile] = field(default_factory=dict)
    current: str = ""

    def chosen(self, name: str = "") -> Profile | None:
        """The profile of that name, else the current one. Raises Failure for an unknown name."""
        if name and name not in self.by_name:
            names = ", ".join(self.by_name) or "none"
            raise Failure(
                f"there is no profile {name!r}; known: {names}; `slipway login URL` makes one", UNKNOWN
            )
        return self.by_name.get(name or self.current)

    def with_profile(self, name: str, profile: Profile) -> "Profiles":
        """The profiles with this one added, which becomes the current one."""
        return Profiles({**self.by_name, name: profile}, name)

    def without_profile(self, name: str) -> "Profiles":
        """The profiles without that one; if it was the current one, there is no current one."""
        others = {key: one for key, one in self.by_name.items() if key != name}
        return replace(self, by_name=others, current="" if self.current == name else self.current)


def file_of(environment: Mapping[str, str]) -> Path:
    """The file of the profiles, by the XDG base directories."""
    base = environment.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if base.startswith("/") else Path.home() / ".config"
    return folder / "slipway" / "profiles.json"


def read_profiles(file: Path) -> Profiles:
    """The profiles in the file; none if it does not exist. Raises Failure if others may read it."""
    try:
        with file.open("rb") as stream:
            if os.fstat(stream.fileno()).st_mode & 0o077:
                raise Failure(f"{file} holds keys, and others may read it: chmod 600 {file}")
            document: Any = json.load(stream)
        profiles = {name: Profile(**one) for name, one in document["profiles"].items()}
        return Profiles(profiles, document["current"])
    except FileNotFoundError:
        return Profiles()
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise Failure(f"{file} cannot be read as profiles; remove it, and log in again") from None


def write_profiles(file: Path, profiles: Profiles) -> None:
    """Replace the file in one step; only its owner may read it and its folder. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.parent.chmod(0o700)
    members = {name: {k: v for k, v in asdict(one).items() if v} for name, one in profiles.by_name.items()}
    text = json.dumps({"current": profiles.current, "profiles": members}, indent=2) + "\n"
    descriptor, name = tempfile.mkstemp(dir=file.parent)  # 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
