"""Where a name has only a part of an id or of a digest, what is read by that name is compared as a whole."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("confined", "functions", "shared", "slipway")
#: What the text in front of a slice is called where it identifies something.
_IDENTITY = re.compile(r"(?:digest(?:\(\))?|(?:^|[._])(?:\w+_)?id|identity|\['id'\])$")
_SHOWN = "shown to people, read by nothing"
_VERSION = "128 bits of a content, compared with that of the same content only"

#: Each part of an id or a digest, and what compares the whole.
SHORT = {
    "functions/page.py: hashlib.sha256(content).hexdigest()[:32]": _VERSION,
    "functions/ranges.py: hashlib.sha256(answer.get_body()).hexdigest()[:32]": _VERSION,
    "functions/ranges.py: hashlib.sha256(identity.encode()).hexdigest()[:32]": _VERSION,
    "shared/adapters/sealing.py: code.hexdigest()[:16]": "64 bits that only have to be unknown to others",
    "shared/adapters/storage/lists/listed.py: hashlib.sha256(name.encode()).hexdigest()[:16]": (
        "`Query.fits` compares the experiment or the cluster in each record of the list"
    ),
    "shared/adapters/storage/node_history.py: hashlib.sha256(cluster.encode()).hexdigest()[:32]": (
        "128 bits of a name that an operator chose"
    ),
    "shared/adapters/storage/other_rows.py: digest[:8]": "the shard; the row's key is the whole digest",
    "shared/core/identity.py: digest[:15]": "an id itself",
    "shared/core/identity.py: job_id[2:18]": (
        "on a cluster the token, in a receipt the id: `stored_receipt.receipt_of`, `rerun.job_of`"
    ),
    "shared/core/job_sweeps/record.py: sha256(f'sweep|{key}'.encode()).digest()[:15]": "an id itself",
    "shared/core/ledger/dead.py: hashlib.sha256(f'{queue}|{message_id}'.encode()).hexdigest()[:24]": (
        "an id itself"
    ),
    "shared/core/ledger/finished_jobs.py: hashlib.sha256(b''.join(lines)).hexdigest()[:24]": (
        "`lookup.archived` and `job_sweeps.job_sweep` compare the id in the line"
    ),
    "shared/core/notify/cloudevents.py: digest[:20]": "an id itself",
    "shared/core/notify/receivers.py: hashlib.sha256(url.encode()).hexdigest()[:32]": "an id itself",
    "shared/core/notify/webhook_url.py: hashlib.sha256(url.encode()).hexdigest()[:16]": (
        "`redeliver` compares the ids of whole addresses; lists count by what is shown"
    ),
    "shared/core/teams/document.py: hashlib.sha256(json.dumps(as_json(teams)).encode()).hexdigest()[:32]": (
        _VERSION
    ),
    "shared/core/teams/persons.py: "
    "hashlib.sha256(source.encode(errors='backslashreplace')).hexdigest()[:12]": (
        "of ids that a tenant or an operator gave; two that are alike would share one limit"
    ),
    "shared/engines/kubernetes/job/request.py: "
    "hashlib.sha256(json.dumps(_texts()).encode()).hexdigest()[:12]": (
        "of the programs of one version, which no sender chooses"
    ),
    "shared/intake/receipt_path.py: hashlib.sha256(path.encode()).hexdigest()[:16]": (
        "a receipt has the id of its job, and the notes on a folder are read by nothing"
    ),
    "shared/intake/first_record.py: identity[2:10]": _SHOWN,
    "shared/intake/explanation/explain.py: job.id[2:10]": _SHOWN,
    "shared/intake/job_sweep.py: identity[2:10]": _SHOWN,
    "shared/operate/redeliver.py: hashlib.sha256(f'{url}|{key}'.encode()).hexdigest()[:26]": "an id itself",
    "slipway/client/files/save.py: hashlib.sha256(file.name.encode()).hexdigest()[:16]": (
        "of the file's name, and the next one of the name with its version: 128 bits together"
    ),
    "slipway/client/files/save.py: hashlib.sha256(version.encode()).hexdigest()[:16]": "the same",
    "slipway/commands/validate/sarif.py: hashlib.sha256(mark.encode()).hexdigest()[:32]": _VERSION,
    "slipway/commands/costs.py: job['id'][:10]": _SHOWN,
    "slipway/settings.py: hashlib.sha256(str(folder).encode()).hexdigest()[:16]": (
        "the note holds the folder, which its reader checks"
    ),
}
#: Most files take no part of anything.
_PART = re.compile(r":\s*\d+\s*\]")
#: A message quotes what a caller sent, cut at this length: longer than any id.
_QUOTED = 80


def short_names(source: str) -> Iterator[str]:
    """The parts of ids and digests that a file takes."""
    if not _PART.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Subscript(value=value, slice=ast.Slice(upper=ast.Constant(length))):
                if isinstance(length, int) and length != _QUOTED and _IDENTITY.search(ast.unparse(value)):
                    yield ast.unparse(node)


def test_every_part_of_an_id_or_a_digest_is_known_with_what_compares_the_whole() -> None:
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py")]
    parts = {
        f"{file.relative_to(ROOT).as_posix()}: {part}"
        for file in files
        for part in short_names(file.read_text())
    }
    assert parts - SHORT.keys() == set(), "say in SHORT what compares the whole"
    assert SHORT.keys() - parts == set(), "no longer in the source"


@pytest.mark.parametrize(
    "source",
    [
        "job.id[2:10]",
        "job_id[:8]",
        "sha256(b'').hexdigest()[:16]",
        "digest[:4]",
        "one['id'][:6]",
        "identity[2:9]",
    ],
)
def test_a_part_is_seen(source: str) -> None:
    assert list(short_names(source)) == [ast.unparse(ast.parse(source))]


@pytest.mark.parametrize("source", ["text[:8]", "job_id[2:]", "job_id[:80]", "valid[:3]"])
def test_other_parts_are_not_meant(source: str) -> None:
    assert list(short_names(source)) == []
