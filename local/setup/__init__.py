"""Installs the project, and checks its packages: environments, lock files, advisories, an SBOM.

In: pyproject.toml and the locks. Out: environments, files, reports.
Uses nothing but the standard library, because it runs before anything is installed.
"""
