"""The list of what a deployment is made of."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.thorough
def test_make_sbom_names_every_package_of_the_app_with_its_hashes(tmp_path: Path) -> None:
    argv = ["make", "sbom", f"SBOM={tmp_path}/app.cdx.json"]
    created = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)

    assert created.returncode == 0, created.stderr
    bom = json.loads((tmp_path / "app.cdx.json").read_text())
    assert (bom["bomFormat"], bom["metadata"]["component"]["name"]) == ("CycloneDX", "slipway-jobs")
    listed = (ROOT / "requirements.txt").read_text()
    expected = set(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", listed, re.MULTILINE))
    assert {(one["name"], one["version"]) for one in bom["components"]} == expected
    for one in bom["components"]:
        assert one["purl"].startswith(f"pkg:pypi/{one['name']}@{one['version']}")
        assert one["externalReferences"][0]["hashes"]
