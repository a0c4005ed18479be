"""What pip-audit reports becomes one verdict: known, unknown, or nothing to tell."""

from local.setup.advisories import verdict

CLEAN = {"name": "aiohttp", "version": "3.14.5", "vulns": []}
BAD = {
    "name": "requests",
    "version": "2.19.0",
    "vulns": [{"id": "PYSEC-2018-28", "fix_versions": ["2.20.0"], "aliases": [], "description": "…"}],
}
UNFIXED = BAD | {"vulns": [{"id": "PYSEC-1", "fix_versions": [], "aliases": [], "description": "…"}]}
UNKNOWN = {"name": "ours", "skip_reason": "Dependency not found on PyPI and could not be audited"}


def test_packages_without_a_known_vulnerability_are_only_counted() -> None:
    assert verdict({"dependencies": [CLEAN, CLEAN]}) == ([], [], 2)


def test_a_vulnerability_is_named_with_the_version_that_mends_it() -> None:
    vulnerable, unchecked, _ = verdict({"dependencies": [CLEAN, BAD]})

    assert vulnerable == ["requests 2.19.0: PYSEC-2018-28, fixed in 2.20.0"]
    assert unchecked == []


def test_one_that_nothing_mends_is_named_as_well() -> None:
    assert verdict({"dependencies": [UNFIXED]})[0] == ["requests 2.19.0: PYSEC-1, fixed in no version yet"]


def test_a_package_that_no_one_could_tell_of_is_not_taken_for_clean() -> None:
    assert verdict({"dependencies": [CLEAN, UNKNOWN]}) == ([], ["ours"], 2)
