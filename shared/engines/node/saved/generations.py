"""The generations of what a job saved: their names, and what each of them holds. Pure.

Each node of a run writes a manifest of its own directory after the files that it names. The manifests of one
moment by all nodes are a generation; one that lacks a node is none.
"""

import re
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

#: The folders with the manifests and with the contents of files, below the job's prefix.
MANIFESTS, PARTS = "generations", "parts"
#: The most entries of a generation, bytes of a path, and bytes of all its files.
MOST_ENTRIES, LONGEST_PATH, MOST_BYTES = 10_000, 1024, 1 << 40
#: The most bytes of a manifest.
LARGEST_MANIFEST = 16 << 20
FILE, FOLDER, LINK = "file", "folder", "link"
_MANIFEST = re.compile(r"([0-9]{6})-([0-9]{6})-([0-9]{12})-([0-9]{1,4})-of-([0-9]{1,4})", re.ASCII)
_PART = re.compile(r"([0-9]{6})-([0-9]{6})-([0-9]{12})-[0-9a-f]{32}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Moment(NamedTuple):
    """When a generation was made: the attempt of the job, its run, and the time in seconds."""

    attempt: int
    run: int
    time: int

    def __str__(self) -> str:
        return "{:06d}-{:06d}-{:012d}".format(*self)


class Manifest(NamedTuple):
    """The name of what one node saved at a moment; `node` is its number, `nodes` those of its run."""

    moment: Moment
    node: int
    nodes: int

    def __str__(self) -> str:
        return f"{self.moment}-{self.node}-of-{self.nodes}"


class Entry(NamedTuple):
    """A file, folder or link: `text` is the SHA-256 of a file, or where a link leads.

    `part`: the blob with the content; "" if another node uploads it, with which the run began.
    `is_own`: whether this run changed it on this node.
    """

    kind: str
    size: int = 0
    modified: int = 0
    mode: int = 0
    text: str = ""
    part: str = ""
    is_own: bool = True


class Content(NamedTuple):
    """What a manifest says: the entries by path, and the paths that are not as the run began with them."""

    entries: Dict[str, Entry]
    replaced: Set[str]


def manifests_of(names: Iterable[str]) -> List[Manifest]:
    """The manifests among these names."""
    result = []
    for match in filter(None, map(_MANIFEST.fullmatch, names)):
        attempt, run, moment, node, nodes = map(int, match.groups())
        if node < nodes:
            result.append(Manifest(Moment(attempt, run, moment), node, nodes))
    return result


def whole(manifests: Iterable[Manifest]) -> List[List[Manifest]]:
    """The generations of which no node lacks its manifest, the newest first."""
    by_moment: Dict[Tuple[Moment, int], List[Manifest]] = {}
    for one in sorted(set(manifests)):
        by_moment.setdefault((one.moment, one.nodes), []).append(one)
    newest_first = sorted(by_moment.items(), reverse=True)
    return [members for (_, nodes), members in newest_first if len(members) == nodes]


def moment_of(part: str) -> Optional[Moment]:
    """When a part was uploaded; None if that is not the name of one."""
    match = _PART.fullmatch(part)
    return Moment(*map(int, match.groups())) if match else None


def document_of(content: Content) -> Dict[str, Any]:
    """A manifest as JSON."""
    entries = {path: list(entry) for path, entry in sorted(content.entries.items())}
    return {"version": 1, "entries": entries, "replaced": sorted(content.replaced)}


def content_of(document: Dict[str, Any]) -> Content:
    """The content of a manifest. Its paths were chosen by a job. Raises ValueError."""
    entries, replaced = document.get("entries"), document.get("replaced")
    if document.get("version") != 1 or not isinstance(entries, dict) or not isinstance(replaced, list):
        raise ValueError("it has another form")
    if not all(isinstance(path, str) for path in replaced):
        raise ValueError("it has another form")
    if len(entries) > MOST_ENTRIES:
        raise ValueError(f"it has more than {MOST_ENTRIES} entries")
    return Content({_path(path): _entry(path, fields) for path, fields in entries.items()}, set(replaced))


def merged(contents: List[Content]) -> Dict[str, Entry]:
    """What all nodes saved, by path, as the next run begins with it.

    What a run changed counts more than what it began with; of several nodes that changed a path, the first
    counts; what one node removed is gone if no other changed it. Nothing lies below a file or a link.
    """
    replaced = replaced_in(contents)
    entries: Dict[str, Entry] = {}
    for is_own in (True, False):
        for content in contents:
            for path, entry in content.entries.items():
                is_absent = entry.kind == FILE and not entry.part
                if entry.is_own is is_own and not is_absent and (is_own or path not in replaced):
                    entries.setdefault(path, entry)
    return {path: entry._replace(is_own=False) for path, entry in entries.items() if _is_free(path, entries)}


def replaced_in(contents: List[Content]) -> Set[str]:
    """The paths that some node has no more as the run began with them."""
    return {path for content in contents for path in content.replaced}


def why_refused(sizes: List[int]) -> str:
    """Why entries of these sizes are too many, or too large, for a generation; "" if they are not."""
    size = sum(sizes)
    if len(sizes) > MOST_ENTRIES:
        return f"it has more than {MOST_ENTRIES} files and folders"
    return f"it has {size} bytes, and {MOST_BYTES} is the most" if size > MOST_BYTES else ""


def leads_inside(path: str, target: str) -> bool:
    """Whether a link of that path leads to something in the same directory, by its names alone.

    It may go up only at its beginning, from its own folder: where another link leads is not known here.
    """
    if not target or target.startswith("/") or "\0" in target or len(target) > LONGEST_PATH:
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    down = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    return down <= path.count("/") and ".." not in parts[down:]


def is_path(path: object) -> bool:
    """Whether it is the path of something within a directory."""
    if not isinstance(path, str) or "\0" in path:
        return False
    if not 0 < len(path.encode("utf-8", "surrogateescape")) <= LONGEST_PATH:
        return False
    return not [part for part in path.split("/") if part in ("", ".", "..")]


def _is_free(path: str, entries: Dict[str, Entry]) -> bool:
    """Whether everything above a path is a folder."""
    above = path.rpartition("/")[0]
    while above:
        if entries.get(above, Entry(FOLDER)).kind != FOLDER:
            return False
        above = above.rpartition("/")[0]
    return True


def _path(path: object) -> str:
    if not is_path(path):
        raise ValueError("it has a path that leads elsewhere")
    return str(path)


def _is_part(entry: Entry) -> bool:
    return moment_of(entry.part) is not None if entry.part else not entry.is_own


def _entry(path: str, fields: Any) -> Entry:
    if not isinstance(fields, list) or len(fields) != len(Entry._fields):
        raise ValueError("it has an entry of another form")
    entry = Entry(*fields)
    texts = (entry.kind, entry.text, entry.part)
    numbers = (entry.size, entry.modified, entry.mode)
    if not all(isinstance(one, str) for one in texts) or not all(type(one) is int for one in numbers):
        raise ValueError("it has an entry of another form")
    is_fit = {
        FILE: entry.size >= 0 and _DIGEST.fullmatch(entry.text) and _is_part(entry),
        FOLDER: True,
        LINK: leads_inside(path, entry.text),
    }
    if not is_fit.get(entry.kind) or not isinstance(entry.is_own, bool):
        raise ValueError("it has an entry of another form")
    return entry
