"""What the identity of the workflow may grant, by the commands of the guide."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from local.bicep.rules import ROLES

ROOT = Path(__file__).resolve().parents[3]


def test_it_may_grant_the_roles_of_the_templates_and_no_other() -> None:
    guide = (ROOT / "docs" / "how-to" / "deploy-with-entra.md").read_text("utf-8")
    (line,) = re.findall(r"^(roles=\$.*)$", guide, re.MULTILINE)

    done = subprocess.run(
        ["sh", "-c", f'{line}; printf %s "$roles"'], cwd=ROOT, check=True, capture_output=True, text=True
    )

    assert set(done.stdout.split(", ")) == set(ROLES)
    assert guide.count("ForAnyOfAnyValues:GuidEquals {$roles}") == 2
    assert '--role "Role Based Access Control Administrator" ' in guide
    assert "--condition-version 2.0" in guide
