"""What `make` starts by `python -m` is imported once: no package on its way has it already."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.slow.project.test_cold_start import ROOT

_STARTED = re.compile(r"python -m ((?:local|slipway|bench|tests)[\w.]*)")


def test_no_package_imports_what_is_started_from_it() -> None:
    names = sorted(set(_STARTED.findall((ROOT / "Makefile").read_text(encoding="utf-8"))))
    packages = [name.rpartition(".")[0] for name in names if "." in name]
    assert "local.slurm" in packages
    code = f"import sys, {', '.join(packages)}; print(*sys.modules)"

    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    modules = set(ran.stdout.split()) - set(packages)
    assert modules.isdisjoint(names), f"imported twice where it is started: {modules & set(names)}"
