"""kinds: every kind of row in the ledger's table, and what to do about one that cannot be read. Pure.

The audit, lists, passes and health share this table: a row that cannot be read is noted by its key, which
names its kind. What it is about stays as it is, and nothing else is affected.
"""

from __future__ import annotations

from typing import NamedTuple

#: The partitions of the shards, `s000` and so on, and of dropped folders, `d000` and so on.
SHARDS, DROPS = "s", "d"


class RowKind(NamedTuple):
    """One kind of row. Texts are clauses."""

    partition: str
    #: the beginning of its key; "" for every key of the partition
    key: str
    #: what does not happen while it cannot be read
    harm: str
    #: what an operator may do
    remedy: str
    #: whether the audit reads every row of the kind. It reads others for active jobs and the last that ended.
    is_audited: bool = True


_RESTORE = "install the version that wrote it, or restore it from a backup"
_NOTHING = "nothing has to be done"

KINDS = (
    RowKind(SHARDS, "n|", "its job is neither submitted, observed nor ended", _RESTORE),
    RowKind(
        SHARDS,
        "j|",
        "its job cannot be shown, and what waits for its end goes on waiting",
        f"{_RESTORE}; do not delete it, or a duplicate of the job would run",
        is_audited=False,
    ),
    RowKind(
        SHARDS,
        "s|",
        "its job or sweep cannot be submitted, nor repeated",
        f"{_RESTORE}, or cancel the job and send it again",
        is_audited=False,
    ),
    RowKind(SHARDS, "o|", "its event is not sent", _RESTORE),
    RowKind(
        SHARDS,
        "e|",
        "its event is not listed, nor sent again",
        f"delete it, or {_RESTORE}",
        is_audited=False,
    ),
    RowKind(
        SHARDS,
        "x|",
        "its event is not among the dead ones",
        "delete it: another row, with e in place of x, has the same event",
    ),
    RowKind(SHARDS, "l|", "lists read the record of its job instead", _NOTHING, is_audited=False),
    RowKind(SHARDS, "g|", "lists read the record of its job instead", _NOTHING, is_audited=False),
    RowKind(SHARDS, "t|", "its job does not count in its hour", _NOTHING, is_audited=False),
    RowKind(
        SHARDS,
        "w|",
        "the jobs of its sweep that wait for their turn go on waiting",
        f"{_RESTORE}, or cancel these jobs and send the sweep again",
        is_audited=False,
    ),
    RowKind(SHARDS, "p|", "its sweep gives no job its turn", _RESTORE),
    RowKind(SHARDS, "v|", "its sweep is not archived", _RESTORE, is_audited=False),
    RowKind(DROPS, "", "its folder is looked at again", f"{_NOTHING}: the next inventory writes it again"),
    RowKind(
        "receivers",
        "",
        "its address gets events again",
        "delete it: if the address answers 410 again, it is disabled again",
    ),
    RowKind("dead", "", "its message cannot be redriven", f"{_RESTORE}, or delete it"),
    RowKind("meta", "layout", "the app does not start", _RESTORE),
    RowKind("meta", "owner", "the app does not start", _RESTORE),
    RowKind(
        "meta",
        "paused",
        "submissions are paused",
        "`slipway resume --all` or `pause --all` writes it again",
    ),
    RowKind(
        "meta",
        "trouble",
        "what the sweeper found is not counted",
        f"{_NOTHING}: it is written anew",
    ),
    RowKind("nodes", "", "the history of its cluster is not shown", f"{_NOTHING}: it begins anew"),
    RowKind(
        "teams",
        "document",
        "requests that depend on teams are refused",
        "`slipway teams apply FILE --force` replaces it",
    ),
    RowKind(
        "teams",
        "u|",
        "no waiting job of its team is submitted, and its use is not known",
        f"{_RESTORE}, or delete it: the next pass counts the jobs at work again, and the month begins anew",
    ),
)


def kind_of(name: str) -> RowKind | None:
    """The kind of a row by its name, PARTITION/KEY; None for an unknown one."""
    partition, _, key = name.partition("/")
    of_shard = partition[:1] if partition[1:].isdigit() else partition
    return next((one for one in KINDS if one.partition == of_shard and key.startswith(one.key)), None)


def remedy_for(name: str) -> str:
    """What an operator may do about a row of this name that cannot be read, as a clause."""
    kind = kind_of(name)
    if kind is None:
        return _RESTORE
    named = "the row" if kind.is_audited else "such rows of active jobs, and of those that ended last"
    return f"{kind.remedy}; `slipway audit` names {named}"


def describe_damage(name: str, column: str) -> str:
    """What is wrong with a row of this name, what does not happen meanwhile, and what to do."""
    kind = kind_of(name)
    text = f"cannot be read: {column}; damaged, or a newer version wrote it"
    return f"{text}. Meanwhile {kind.harm}. What to do: {kind.remedy}" if kind is not None else text
