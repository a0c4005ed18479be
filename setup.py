"""How the wheel is made: what an installed `slipway` needs of the app lies under `slipway`, its only name.

The app's rooms are packages at the top (`shared`, `confined`), where a deployment finds them; so may be those
of a person who installs the command. In the wheel they are `slipway._shared` and `slipway._confined`, and
every import says so. What is installed to be worked on (`pip install -e`) stays as it lies. Its addresses are
those of the repository whose workflow makes it, as are those in its README. The rest is declared in
`pyproject.toml`.
"""

import ast
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

#: The app's packages that the command needs.
_OF_APP = ("confined", "shared")


class OneName(build_py):
    """Builds the app's packages under `slipway`."""

    def run(self) -> None:
        """Map the packages to their place, so that everything that lists them knows it; then build."""
        if not self.editable_mode:
            self.package_dir |= {under_slipway(name): name for name in _OF_APP}
            self.packages[:] = map(under_slipway, self.packages)
            for name in _OF_APP:
                if name in self.package_data:
                    self.package_data[under_slipway(name)] = self.package_data.pop(name)
        super().run()

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str, bool]:
        """Copy it, with its imports as they are in the wheel."""
        outfile, copied = super().build_module(module, module_file, package)
        file = Path(outfile)
        file.write_text(rewritten(file.read_text(encoding="utf-8")), encoding="utf-8")
        return outfile, copied


class OneTop(Distribution):
    """Its metadata says which name is at the top, too."""

    def iter_distribution_names(self) -> Iterator[str]:
        """The modules, as the wheel calls them."""
        return map(under_slipway, super().iter_distribution_names())


def under_slipway(name: str) -> str:
    """What a module of the app, by its dotted name, is called in the wheel."""
    return f"slipway._{name}" if name.partition(".")[0] in _OF_APP else name


def rewritten(source: str) -> str:
    """A module as it stands in the wheel: each line stays where it was."""
    lines = source.encode().splitlines(keepends=True)
    for line, column, name in sorted(_names(ast.parse(source)), reverse=True):
        before, after = lines[line - 1][:column], lines[line - 1][column:]
        lines[line - 1] = before + after.replace(name.encode(), under_slipway(name).encode(), 1)
    return b"".join(lines).decode()


def _names(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """Where modules of the app are imported: line, column, name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            places = [(node.lineno, node.col_offset, node.module)]
        elif isinstance(node, ast.Import):
            places = [(name.lineno, name.col_offset, name.name) for name in node.names]
        else:
            continue
        yield from (one for one in places if one[2].partition(".")[0] in _OF_APP)


def addresses(environment: Mapping[str, str]) -> dict[str, str]:
    """The addresses of the metadata, where a workflow makes it; else none."""
    server, repository = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    if not server or not repository:
        return {}
    place, at = f"{server}/{repository}", environment.get("GITHUB_SHA", "main")
    pages = {"Documentation": "docs/README.md", "Changelog": "CHANGELOG.md", "Security": "SECURITY.md"}
    return {"Source": place} | {name: f"{place}/blob/{at}/{page}" for name, page in pages.items()}


def described(readme: str, environment: Mapping[str, str]) -> str:
    """The README as an index shows it, where its links lead to the repository, if a workflow makes it."""
    if not (source := addresses(environment).get("Source")):
        return readme
    at = environment.get("GITHUB_SHA", "main")
    linked = re.sub(r"(?<=\]\()(?![a-z]+:|#)", f"{source}/blob/{at}/", readme)
    return re.sub(rf"(!\[[^\]]*\]\({re.escape(source)})/blob/", r"\1/raw/", linked)


if __name__ == "__main__":
    setup(
        long_description=described(Path("README.md").read_text(encoding="utf-8"), os.environ),
        long_description_content_type="text/markdown",
        project_urls=addresses(os.environ),
        cmdclass={"build_py": OneName},
        distclass=OneTop,
    )
