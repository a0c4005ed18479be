"""How each kind of row is read. A kind whose rows are only keys holds nothing that can be damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shared.adapters.storage import job_sweeps, node_history, other_rows, rows, teams
from shared.adapters.storage.lists import listed
from shared.adapters.storage.table import Row
from shared.core.ledger.kinds import DROPS, KINDS, SHARDS, RowKind

_BY_KEY: Mapping[tuple[str, str], Callable[[Row], object]] = {
    (SHARDS, "n|"): lambda row: (rows.active_of(row), rows.record_of(row)),
    (SHARDS, "j|"): lambda row: row["State"] if rows.is_stub(row) else rows.job_of(row),
    (SHARDS, "s|"): rows.spec_of,
    # A row whose time cannot be compared is never due.
    (SHARDS, "o|"): lambda row: (rows.notice_of_row(row), rows.moment_of(row["Due"])),
    **{(SHARDS, kind): rows.notice_of_row for kind in ("e|", "x|")},
    **{(SHARDS, kind): listed.shown_of for kind in ("l|", "g|")},
    (SHARDS, "t|"): listed.turn_of,
    (SHARDS, "w|"): job_sweeps.sweep_of,
    (SHARDS, "p|"): lambda row: rows.moment_of(row["Due"]),
    (SHARDS, "v|"): lambda row: row["RowKey"],
    (DROPS, ""): other_rows.drop_memo_of,
    (other_rows.RECEIVERS, ""): other_rows.disabled_of,
    (other_rows.DEAD, ""): other_rows.dead_of,
    ("meta", "layout"): lambda row: (row["Version"], row["Shards"]),
    ("meta", "owner"): lambda row: row["Name"],
    ("meta", "paused"): other_rows.pause_of,
    ("meta", "trouble"): other_rows.troubles_of,
    ("nodes", ""): node_history.history_of,
    ("teams", "document"): teams.teams_of,
    ("teams", "u|"): teams.use_of,
}
#: What reads the rows of each kind.
READERS: Mapping[RowKind, Callable[[Row], object]] = {
    kind: _BY_KEY[kind.partition, kind.key] for kind in KINDS
}
