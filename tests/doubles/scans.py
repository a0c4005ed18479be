"""Counts scans of directories at the call of the operating system."""

from __future__ import annotations

import os
from typing import Any

import pytest


def count_scans(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A growing list of the directories that are scanned from now on."""
    real, scanned = os.scandir, list[object]()

    def counted(place: Any) -> Any:
        scanned.append(place)
        return real(place)

    monkeypatch.setattr(os, "scandir", counted)
    return scanned
