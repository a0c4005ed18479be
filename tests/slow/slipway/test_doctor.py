"""What `slipway doctor` says of a storage account that cannot be reached."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from slipway.commands.doctor import configuration
from slipway.commands.doctor.findings import Options
from tests.unit.slipway.commands.doctor.test_configuration import SECRET, STORAGE


def test_where_nothing_listens_is_a_failure_without_the_key(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"Values": {"SLIPWAY_STORAGE": STORAGE}}))
    file.chmod(0o600)

    findings = asyncio.run(configuration.check(Options("", "", file)))

    (storage,) = [one for one in findings if one.subject == "storage"]
    assert storage.outcome == "fail"
    assert "storage" in storage.text
    assert SECRET not in str(findings)
