"""The generations of one job in a container: read, written, and cleaned up by the nodes of a run."""

from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from shared.engines.node.blobs import Blobs, Container
from shared.engines.node.proof import Proof
from shared.engines.node.saved.generations import (
    LARGEST_MANIFEST,
    MANIFESTS,
    PARTS,
    Content,
    Entry,
    Manifest,
    Moment,
    content_of,
    document_of,
    manifests_of,
    merged,
    moment_of,
    replaced_in,
    whole,
)
from shared.engines.node.saved.pieces import download

#: The most generations that are read in search of one that is proven, and blobs that are deleted at once.
MOST_READ, MOST_DELETED = 20, 1000


#: An object that says that a job ran here, perhaps without saving anything.
RAN = "ran"


class Lacking(OSError):
    """There is nothing of the job from which this one is to go on."""


class Source(NamedTuple):
    """What a run begins with: the entries, and the prefix of the job that saved them."""

    prefix: str
    entries: Dict[str, Entry]


class Shelf:
    """The generations that a plan names, by the prefix and the keys of their job.

    `from` has those of another job, if this one begins with what that has saved.
    """

    def __init__(self, container: Container, where: Dict[str, Any]) -> None:
        self.container, self._where = container, where
        self._manifests = self._manifests_at(where)

    def path(self, part: str) -> str:
        """The name of a blob with the content of a file."""
        return f"{self._where['prefix']}/{PARTS}/{part}"

    def is_own(self, source: Source) -> bool:
        """Whether this very job saved it."""
        return bool(source.prefix == self._where["prefix"])

    def bring(self, source: Source, entry: Entry, descriptor: int) -> None:
        """Write the content of a file to an open one. Raises OSError."""
        if entry.size:
            download(self.container, f"{source.prefix}/{PARTS}/{entry.part}", descriptor, entry.size)

    def source(self, run: Moment) -> Source:
        """What that run begins with. Raises OSError if there is something, and nothing of it is proven.

        Raises Lacking if there is nothing of another job, with which it is to begin.
        """
        earlier = [one for one in self._names(self._manifests) if one.moment[:2] < run[:2]]
        entries, other = self._newest(self._manifests, earlier), self._where.get("from")
        if entries is None and other:
            manifests = self._manifests_at(other)
            entries = self._newest(manifests, self._names(manifests))
            if entries is None and not self._job(other["prefix"]).load(RAN):
                text = f"There is nothing in {other['prefix']}: that job did not run here, or it is archived"
                raise Lacking(text)
            return Source(other["prefix"], entries or {})
        return Source(self._where["prefix"], entries or {})

    def newest(self) -> Source:
        """What the job saved last, for another job. Raises OSError as `source` does."""
        entries = self._newest(self._manifests, self._names(self._manifests))
        return Source(self._where["prefix"], entries or {})

    def note(self) -> None:
        """Note that the job ran here. Raises OSError."""
        self._job(self._where["prefix"]).save(RAN, b"{}")

    def last(self, run: Moment, node: int) -> Tuple[Moment, Optional[Content]]:
        """When and what a node saved last in that run. Raises OSError."""
        own = [one for one in self._of_run(run) if one.node == node]
        for manifest in sorted(own, reverse=True)[:MOST_READ]:
            content = self._read(self._manifests, manifest)
            if content is not None:
                return manifest.moment, content
        return run, None

    def write(self, manifest: Manifest, content: Content) -> None:
        """Write a manifest, after all that it names. Raises OSError."""
        text = self._manifests.proof.text(str(manifest), document_of(content))
        if len(text) > LARGEST_MANIFEST:
            raise OSError("the names in it are too long")
        self._manifests.save(str(manifest), text)

    def clean(self, run: Moment) -> None:
        """Delete what the newest generation of that run has replaced. Raises OSError."""
        own = self._of_run(run)
        contents: Dict[Manifest, Content] = {}
        for members in whole(own)[:MOST_READ]:
            for one in own:
                is_new = one.moment >= members[0].moment and one not in contents
                content = self._read(self._manifests, one) if is_new else None
                if content is not None:
                    contents[one] = content
            if all(one in contents for one in members):
                replaced = replaced_in([contents[one] for one in members])
                entries = (pair for content in contents.values() for pair in content.entries.items())
                needed = {entry.part for path, entry in entries if entry.is_own or path not in replaced}
                self._delete_before(members[0].moment, needed)
                return

    def _delete_before(self, moment: Moment, needed: Set[str]) -> None:
        old = [f"{MANIFESTS}/{one}" for one in self._names(self._manifests) if one.moment < moment]
        try:
            parts = self._job(self._where["prefix"]).child(PARTS).names()
        except FileNotFoundError:
            parts = []
        uploaded = [(part, moment_of(part)) for part in parts if part not in needed]
        old += [f"{PARTS}/{part}" for part, at in uploaded if at is not None and at <= moment]
        for name in old[:MOST_DELETED]:
            self.container.call("DELETE", f"{self._where['prefix']}/{name}", accept=(404,))

    def _of_run(self, run: Moment) -> List[Manifest]:
        return [one for one in self._names(self._manifests) if one.moment[:2] == run[:2]]

    def _manifests_at(self, where: Dict[str, Any]) -> Blobs:
        return Blobs(self.container, where["prefix"], Proof(where["proof"])).child(MANIFESTS)

    def _job(self, prefix: str) -> Blobs:
        return Blobs(self.container, prefix)

    def _names(self, manifests: Blobs) -> List[Manifest]:
        try:
            return manifests_of(manifests.names())
        except FileNotFoundError:
            return []

    def _newest(self, manifests: Blobs, names: List[Manifest]) -> Optional[Dict[str, Entry]]:
        generations = whole(names)
        for members in generations[:MOST_READ]:
            contents = [self._read(manifests, one) for one in members]
            proven = [one for one in contents if one is not None]
            if len(proven) == len(members):
                return merged(proven)
        if generations:
            raise OSError("nothing of what the job saved has the proof that it is its own")
        return None

    def _read(self, manifests: Blobs, manifest: Manifest) -> Optional[Content]:
        """What a manifest says; None if it lacks its proof. Raises OSError."""
        document = manifests.read(str(manifest))
        try:
            return content_of(document) if document else None
        except ValueError as error:
            raise OSError(f"what the job saved cannot be read: {error}") from None
