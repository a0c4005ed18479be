"""Who is in which team, and the team of a new job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from shared.core.caller import ADMIN, KEY_HOLDER, READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.teams.document import Teams
from shared.core.teams.membership import share_in, share_of_caller, share_of_folder, teams_of
from shared.core.teams.share import NO_TEAM, Share
from tests.unit.recorded import job_of

TEAMS = Teams.model_validate(
    {
        "default": "rest",
        "teams": {
            "vision": {"members": [{"user": "ann"}, {"group": "g", "manager": True}], "clusters": ["gpu"]},
            "speech": {"members": [{"role": "Speech"}, {"user": "ann", "manager": True}], "folders": ["s"]},
            "rest": {},
        },
    }
)
NO_DEFAULT = TEAMS.model_copy(update={"default": None})


def member(
    name: str,
    teams: Teams = TEAMS,
    groups: frozenset[str] = frozenset(),
    app_roles: frozenset[str] = frozenset(),
) -> Caller:
    who = Caller(name, frozenset({SUBMIT}), groups, app_roles)
    return replace(who, teams=teams_of(who, teams))


def test_a_caller_is_named_by_id_group_or_role() -> None:
    assert member("ann").teams == {"vision": False, "speech": True}
    assert member("bob", groups=frozenset({"g"})).teams == {"vision": True}
    assert member("cay", app_roles=frozenset({"Speech"})).teams == {"speech": False}
    assert member("dan").teams == {"rest": False}
    assert member("dan", NO_DEFAULT).teams == {}
    assert member("").teams == {"rest": False}


def test_the_name_of_a_key_is_no_user_and_no_role() -> None:
    members = [{"key": "ann", "manager": True}, {"user": "bob"}, {"role": SUBMIT}]
    teams = Teams.model_validate({"teams": {"vision": {"members": members}}})

    def teams_by_key(name: str) -> Mapping[str, bool]:
        return teams_of(Caller(name, frozenset({SUBMIT}), key=name), teams)

    assert teams_by_key("ann") == {"vision": True}
    assert teams_by_key("bob") == {}
    assert member("ann", teams).teams == {}
    assert member("bob", teams).teams == {"vision": False}


def test_a_job_gets_the_team_that_is_named_or_the_callers_first() -> None:
    assert share_of_caller(member("ann"), TEAMS, "", "") == Share("vision", frozenset({"gpu"}))
    assert share_of_caller(member("ann"), TEAMS, "speech", "/team") == Share("speech")
    assert share_of_caller(KEY_HOLDER, TEAMS, "vision", "/team").team == "vision"
    assert share_of_caller(KEY_HOLDER, TEAMS, "", "").team == "rest"
    assert share_of_caller(KEY_HOLDER, NO_DEFAULT, "", "") == NO_TEAM


@pytest.mark.parametrize(
    ("who", "named", "message"),
    [
        (member("ann"), "rest", 'you are in no team "rest"'),
        (member("ann"), "gone", 'you are in no team "gone"'),
        (KEY_HOLDER, "gone", 'there is no team "gone"'),
        (member("dan", NO_DEFAULT), "", "you are not in a team of this deployment"),
    ],
)
def test_another_team_is_refused_at_its_place(who: Caller, named: str, message: str) -> None:
    (problem,) = share_of_caller(who, NO_DEFAULT, named, "/team").problems

    assert (problem.code, problem.pointer) == ("SW113", "/team")
    assert message in problem.message


def test_a_drop_belongs_to_the_team_of_its_folder_and_names_no_other() -> None:
    assert share_of_folder("s/x/", TEAMS, "", "").team == "speech"
    assert share_of_folder("s/x/", TEAMS, "speech", "").team == "speech"
    assert share_of_folder("x/", TEAMS, "rest", "").team == "rest"
    assert share_of_folder("x/", NO_DEFAULT, "", "") == NO_TEAM
    for folder, named in (("s/", "vision"), ("x/", "vision"), ("x/", "gone")):
        assert [one.pointer for one in share_of_folder(folder, TEAMS, named, "/team").problems] == ["/team"]


def test_a_team_that_is_gone_may_use_nothing() -> None:
    assert share_in(TEAMS, "gone").clusters == frozenset()


def test_members_see_the_jobs_of_their_team_and_managers_change_them() -> None:
    job = job_of(source="http:eve", team="vision")
    manager = member("bob", groups=frozenset({"g"}))
    auditor, operator = Caller("cay", frozenset({READ_ALL})), Caller("dan", frozenset({ADMIN}))

    assert [one.sees(job) for one in (member("ann"), manager, auditor, operator, member("fay"))] == [
        *[True] * 4,
        False,
    ]
    for one in (manager, operator, Caller("eve", frozenset({SUBMIT}))):
        one.may_change(job)
    for one in (member("ann"), auditor):
        with pytest.raises(Misuse) as refused:
            one.may_change(job)
        assert refused.value.status == 403


def test_a_job_without_a_team_is_no_teams() -> None:
    assert not member("dan").sees(job_of(source="http:eve"))
