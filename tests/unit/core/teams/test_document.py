"""The document of teams: what it may say, and the place of what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.teams.document import MAX_MEMBERS, MAX_TEAMS, Teams, as_json, changes, version_of
from shared.core.teams.reading import read_teams

CLUSTERS = ("gpu", "cpu")
GOOD: dict[str, Any] = {
    "default": "rest",
    "teams": {
        "vision": {
            "members": [{"user": "ann", "manager": True}, {"group": "g"}, {"role": "Vision"}],
            "clusters": ["gpu"],
            "folders": ["vision", "shared/eyes"],
            "containers": ["eyes"],
            "webhookSecrets": ["vision"],
        },
        "rest": {},
    },
}


def problems(document: Any) -> list[tuple[str, str]]:
    return [
        (one.pointer, one.message) for one in read_teams(document, CLUSTERS, {"runs"}, {"vision"}).problems
    ]


def test_a_good_document_is_read_and_written_as_it_was() -> None:
    teams, flaws = read_teams(GOOD, CLUSTERS, secrets=["vision"])

    assert flaws == ()
    assert teams is not None
    assert as_json(teams) == GOOD
    assert read_teams({}, ()).teams == Teams()


@pytest.mark.parametrize(
    ("team", "pointer", "message"),
    [
        ({"membres": []}, "/teams/a/membres", 'did you mean "members"'),
        ({"members": {}}, "/teams/a/members", '"members" has to be a list'),
        ({"members": [{}]}, "/teams/a/members/0", "here is none of them"),
        ({"members": [{"user": "u", "group": "g"}]}, "/teams/a/members/0", "here is user and group"),
        ({"members": [{"user": ""}]}, "/teams/a/members/0/user", "must not be empty"),
        ({"members": [{"user": "u", "manager": "yes"}]}, "/teams/a/members/0/manager", "true or false"),
        ({"clusters": ["gpu", "gqu"]}, "/teams/a/clusters/1", 'there is no cluster "gqu"'),
        ({"folders": ["x", "../y"]}, "/teams/a/folders/1", "not a folder of the drop container"),
        ({"webhookSecrets": ["vision", "x"]}, "/teams/a/webhookSecrets/1", 'there is no webhook secret "x"'),
        ({"containers": ["eyes", "A"]}, "/teams/a/containers/1", "is not the name of a container"),
        ({"containers": ["runs"]}, "/teams/a/containers/0", "is the app's own"),
        ({"containers": ["azure-webjobs-secrets"]}, "/teams/a/containers/0", "is the app's own"),
        ({"folders": [""]}, "/teams/a/folders/0", "not a folder of the drop container"),
        ({"members": [{"user": "u"}] * (MAX_MEMBERS + 1)}, "/teams/a/members", "1000 are allowed"),
    ],
)
def test_a_problem_of_a_team_has_its_place(team: Any, pointer: str, message: str) -> None:
    ((place, text),) = problems({"teams": {"a": team}})

    assert place == pointer
    assert message in text


@pytest.mark.parametrize("key", ["", " Ann ", "bob smith", "_ann", "änn", "ann\n", "a" * 65])
def test_a_member_by_a_name_that_no_key_can_have_is_refused(key: str) -> None:
    teams, problems = read_teams({"teams": {"a": {"members": [{"key": "ann.b@x-1"}, {"key": key}]}}}, ["dev"])

    assert teams is None
    assert [one.pointer for one in problems] == ["/teams/a/members/1/key"]


@pytest.mark.parametrize("folder", ["a?b#c", "100%", "my project", "実験\u30001", "x" * 255, "a" + "/a" * 63])
def test_a_folder_of_any_name_that_can_be_dropped_may_be_a_teams(folder: str) -> None:
    assert problems({"teams": {"a": {"folders": [folder]}}}) == []


@pytest.mark.parametrize(
    ("folder", "flaw"),
    [
        ("a\\b", "it has a backslash, which clients turn into a slash"),
        ("a//b", "it has an empty level, which no file system shows"),
        ("x" * 256, "it is too long"),
        ("a" + "/a" * 64, "it is too long"),
    ],
)
def test_why_a_folder_cannot_be_dropped_is_said(folder: str, flaw: str) -> None:
    ((_, message),) = problems({"teams": {"a": {"folders": [folder]}}})

    assert message.endswith(f"is not a folder of the drop container: {flaw}")


def test_a_default_team_exists_a_name_is_a_name_and_a_folder_has_one_owner() -> None:
    assert problems({"default": "a"}) == [("/default", 'there is no team "a"')]
    assert problems({"teams": {"a b": {}}}) == [("/teams/a b", '"a b" cannot be the name of a team')]
    shared = {"a": {"folders": ["x/y"]}, "b": {"folders": ["x", "x/y/"]}}
    assert problems({"teams": shared}) == [("/teams/b/folders/1", '"x/y/" belongs to the team "a" already')]
    many: dict[str, Any] = {f"t{number}": {} for number in range(MAX_TEAMS + 1)}
    assert [place for place, _ in problems({"teams": many})] == ["/teams"]


@pytest.mark.parametrize(
    ("folder", "team"),
    [
        ("vision", "a"),
        ("vision/", "a"),
        ("vision/x", "a"),
        ("vision/secret/y", "b"),
        ("visionary", ""),
        ("", ""),
        ("x/vision", ""),
    ],
)
def test_a_folder_belongs_to_the_team_of_the_longest_folder_around_it(folder: str, team: str) -> None:
    document = {"teams": {"a": {"folders": ["vision"]}, "b": {"folders": ["vision/secret"]}}}

    assert Teams.model_validate(document).of_folder(folder) == team


def test_changes_name_each_team_that_is_not_what_it_was() -> None:
    before = Teams.model_validate({"default": "a", "teams": {"a": {}, "b": {}, "c": {"folders": ["x"]}}})
    after = Teams.model_validate({"teams": {"b": {"clusters": []}, "c": {"folders": ["x"]}, "d": {}}})

    assert changes(before, after) == [
        "the team a is removed",
        "the team b changes its clusters",
        "the team d is new, with 0 members",
        "the default team is none, not a",
    ]
    assert changes(after, after) == []
    assert version_of(before) != version_of(after)
