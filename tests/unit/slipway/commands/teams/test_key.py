"""`slipway teams key`: a key that is shown once, and the entry that names its holder."""

from __future__ import annotations

import json

import pytest

from shared.adapters.named_keys import named_keys
from shared.core.caller import ADMIN, SUBMIT
from slipway.commands.teams.key import run
from slipway.failure import Failure


def test_the_entry_names_the_holder_of_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ann", as_json=True) == 0
    output = json.loads(capsys.readouterr().out)

    holder = named_keys(output["entry"]).holder(output["key"])
    assert holder.id == "ann"
    assert holder.roles == {SUBMIT}
    assert output["key"] not in json.dumps(output["entry"])


def test_people_get_the_key_and_the_entry_and_each_time_another(capsys: pytest.CaptureFixture[str]) -> None:
    keys = set()
    for _ in range(2):
        run("dan", operator=True)
        _, key, _, entry = capsys.readouterr().out.splitlines()
        assert named_keys(json.loads(entry)).holder(key.strip()).roles == {ADMIN}
        keys.add(key)

    assert len(keys) == 2


def test_a_name_that_no_key_can_have_is_refused() -> None:
    with pytest.raises(Failure, match="a name has up to 64"):
        run("ann:b")
