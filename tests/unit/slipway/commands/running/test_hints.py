"""What is said of files that a job looks for in the wrong place."""

from __future__ import annotations

import pytest

from slipway.commands.running.hints import misplaced

FILES = ("job.json", "data.csv", "lib/net.pt", "train.py")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("  FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'", "data.csv"),
        ("  FileNotFoundError: [Errno 2] No such file or directory: './lib/net.pt'", "lib/net.pt"),
        ("  cat: data.csv: No such file or directory", "data.csv"),
        ("  cat: other-data.csv: No such file or directory", ""),
        ("  FileNotFoundError: [Errno 2] No such file or directory: '/mnt/data.csv'", ""),
        ("  data.csv is empty", ""),
    ],
)
def test_a_file_that_was_uploaded_and_not_found_is_named(line: str, name: str) -> None:
    assert misplaced(["", "the end of stderr-0.txt:", line], FILES) == name
