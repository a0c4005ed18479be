"""The page for browsers: web/ is built into page/, which the function app serves and a deployment contains.

`python -m local.setup.page` checks its types and its style. Standard library only, as in install.py.
"""

import subprocess
import sys
from pathlib import Path

from local.setup.interpreter import InstallError
from local.setup.node import Node, installed_node, packaged_node
from local.setup.steps import ROOT, fingerprint, read, step

WEB = ROOT / "web"
BUILT = ROOT / "page"
_PACKAGES = ("web/package.json", "web/package-lock.json")
_QUIET = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]


def is_built() -> bool:
    """Whether the page is there, and was built from the present content of web/."""
    return (BUILT / "index.html").is_file() and read(BUILT / ".stamp") == fingerprint(_sources(), BUILT)


def build(node: Node) -> None:
    """Install the packages of the page if they changed, and build it. Raises InstallError."""
    packages = WEB / "node_modules" / ".slipway-stamp"
    if read(packages) != fingerprint(_PACKAGES, WEB):
        step("packages of the page", [*node.npm, "ci", *_QUIET], folder=WEB)
        packages.write_text(fingerprint(_PACKAGES, WEB))
    step(
        "the page", [*node.node, str(WEB / "node_modules" / "vite" / "bin" / "vite.js"), "build"], folder=WEB
    )
    (BUILT / ".stamp").write_text(fingerprint(_sources(), BUILT))


def _sources() -> "list[str]":
    """Every file of web/ but its packages, and the example that the page brings along, by name."""
    files = [file for file in WEB.glob("*") if file.is_file()]
    files += [file for file in WEB.glob("src/**/*") if file.is_file()]
    files += [ROOT / "examples" / "digits" / name for name in ("job.json", "train.py")]
    return sorted(str(file.relative_to(ROOT)) for file in files)


def main() -> int:
    """Run the checks; the exit code is that of the first one that fails. Each writes what it finds."""
    modules = WEB / "node_modules"
    node = installed_node() or packaged_node(Path(sys.prefix))
    tools = (
        (modules / "typescript" / "bin" / "tsc",),
        (modules / "oxlint" / "bin" / "oxlint", "--deny-warnings", "src"),
    )
    codes = [subprocess.call([*node.node, *map(str, tool)], cwd=str(WEB)) for tool in tools]
    return max(codes)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InstallError as error:
        sys.stderr.write(f"page: {error}\n")
        sys.exit(1)
