"""`slipway costs` and `slipway teams usage`: sums, and how people read them."""

from __future__ import annotations

from typing import Any

from slipway.commands.costs import lines, summed
from slipway.commands.teams.teams import rows, usage_lines


def job(name: str, hours: float, **usage: Any) -> dict[str, Any]:
    used = {"nodeHours": hours, "gpuHours": 4 * hours, **usage}
    return {
        "id": f"j_{name}",
        "name": name,
        "team": name[0],
        "endedAt": "2026-11-03T00:00:00Z",
        "usage": used,
    }


def test_jobs_are_summed_by_what_one_asks_for_the_most_expensive_first() -> None:
    dollars = {"currency": "USD"}
    jobs = [
        job("a1", 1.0, cost=2.5, **dollars),
        job("b1", 1.0, cost=20.0, **dollars),
        job("a2", 2.0, cost=5.0, **dollars),
        job("c1", 50.0),
        {"id": "j_none", "name": "a3", "team": "a", "endedAt": "2026-11-03T00:00:00Z"},
    ]

    sums = summed(jobs, "team")

    assert [(row["team"], row["jobs"], row["nodeHours"], row["cost"]) for row in sums] == [
        ("b", 1, 1.0, 20.0),
        ("a", 2, 3.0, 7.5),
        ("c", 1, 50.0, 0.0),
    ]
    assert lines(sums, "team") == [
        "team  jobs  node-hours  GPU-hours  cost",
        "b     1     1.00        4.00       20.00 USD",
        "a     2     3.00        12.00      7.50 USD",
        "c     1     50.00       200.00     no price known",
    ]
    assert summed(jobs[:1], "month")[0]["month"] == "2026-11"
    assert lines([], "team") == ["no job that fits has ended and run"]


def test_prices_in_two_currencies_are_not_added() -> None:
    jobs = [job("a1", 1.0, cost=2.0, currency="USD"), job("a2", 1.0, cost=3.0, currency="EUR")]

    assert [(row["currency"], row["cost"]) for row in summed(jobs, "team")] == [("EUR", 3.0), ("USD", 2.0)]


def test_the_use_of_teams_with_their_limits() -> None:
    use: Any = {"jobs": 2, "nodes": 3, "gpus": 12, "gpuHours": 40.5, "cost": 1200, "waiting": 1}
    use |= {"borrowed": 1, "lent": 0, "reservedGpuHours": 40, "reservedCost": 0}
    teams = [
        {"name": "vision", "quota": {"gpus": 16, "budget": 2000}, "use": use, "months": {}},
        {"name": "speech", "quota": None, "use": None, "months": {}},
    ]

    assert usage_lines({"month": "2026-11", "currency": "USD", "teams": teams}) == [
        "team    jobs            nodes  GPUs      GPU-hours           cost in USD     waiting",
        "vision  2 (1 borrowed)  3      12 of 16  40.5 (40 reserved)  1,200 of 2,000  1",
        "speech  no quota",
        "GPU-hours and cost are those of 2026-11 (UTC); reserved: what active jobs may still use",
    ]
    assert usage_lines({"month": "2026-11", "currency": "USD", "teams": []}) == [
        "you are in no team of this deployment"
    ]
    document = {"teams": {"vision": {"quota": {"gpus": 16, "budget": 2000, "jobCost": 50, "lends": True}}}}
    assert rows(document, {"vision": use})[1].split("  ")[-1] == (
        "12 of 16 gpus, 1,200 of 2,000 budget, jobCost 50, lends"
    )


def test_a_use_that_is_not_known_is_said_with_what_to_do() -> None:
    why = "row teams/u|vision of the ledger cannot be read: Claims; delete it"
    team = {"name": "vision", "quota": {"gpus": 16}, "use": None, "months": {}, "error": why}

    lines_of_use = usage_lines({"month": "2026-11", "currency": "USD", "teams": [team]})
    assert lines_of_use[1].split("  ") == ["vision", "not known"]
    assert lines_of_use[-1] == f"the use of vision is not known: {why}"
    document = {"teams": {"vision": {"quota": {"gpus": 16}}}}
    assert rows(document, {}, {"vision": why})[1:] == [
        "vision  0        all                not known",
        f"the use of vision is not known: {why}",
    ]
