"""Scans of directories, counted where the operating system is asked for them."""

from __future__ import annotations

import os
from typing import Any

import pytest


def count_scans(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was scanned from now on, in a list that grows."""
    real, scanned = os.scandir, list[object]()

    def counted(place: Any) -> Any:
        scanned.append(place)
        return real(place)

    monkeypatch.setattr(os, "scandir", counted)
    return scanned
