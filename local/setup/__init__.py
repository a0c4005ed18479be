"""What installs the project, and checks its packages: environments, lock files, advisories, an SBOM.

Uses nothing but the standard library, because it runs before anything is installed.
"""
