"""The emulator's memory: every record is written when it changes, so that a restart or kill -9 loses none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

from local.batchai.state import ids
from local.batchai.state.models import (
    Cluster,
    Experiment,
    FileServer,
    Group,
    Job,
    Operation,
    Resource,
    Workspace,
)
from local.record_file import RecordFile

R = TypeVar("R", bound=Resource)
Saved = Resource | Operation


class Shelf(Generic[R]):
    """All resources of one kind, by key and by parent, in the order of their creation."""

    def __init__(self) -> None:
        self._items: dict[str, R] = {}
        self._children: dict[str, dict[str, None]] = {}

    def get(self, resource_id: str) -> R | None:
        """The resource of an id, in any case of letters; None where there is none."""
        return self._items.get(ids.key(resource_id))

    def __getitem__(self, resource_id: str) -> R:
        """An existing resource: references to it are deleted before it. Raises KeyError."""
        return self._items[ids.key(resource_id)]

    def put(self, item: R) -> None:
        """Store a resource in place of an earlier one with its id."""
        key = ids.key(item.id)
        self._items[key] = item
        self._children.setdefault(ids.parent(key), {})[key] = None

    def drop(self, resource_id: str) -> None:
        """Remove a resource, if it is there."""
        key = ids.key(resource_id)
        self._items.pop(key, None)
        self._children.get(ids.parent(key), {}).pop(key, None)

    def children(self, parent_id: str) -> list[R]:
        """The children of a resource."""
        return [self._items[key] for key in self._children.get(ids.key(parent_id), ())]

    def __iter__(self) -> Iterator[R]:
        return iter(list(self._items.values()))


class Store:
    """All records: in memory for reading, in a SQLite file for keeping. One `save` is one transaction."""

    def __init__(self, directory: Path) -> None:
        self._file = RecordFile(directory)
        self.groups: Shelf[Group] = Shelf()
        self.workspaces: Shelf[Workspace] = Shelf()
        self.experiments: Shelf[Experiment] = Shelf()
        self.clusters: Shelf[Cluster] = Shelf()
        self.jobs: Shelf[Job] = Shelf()
        self.file_servers: Shelf[FileServer] = Shelf()
        self.operations: dict[str, Operation] = {}
        #: Resources that are on their way out, by key.
        self.deleting: dict[str, Resource] = {}
        self._active: dict[str, dict[str, Job]] = {}
        self._versions: dict[str, int] = {}
        self._sequence = 0
        self._load()

    def next_sequence(self) -> int:
        """The number of the next resource."""
        self._sequence += 1
        return self._sequence

    def active(self, cluster: Cluster) -> tuple[Job, ...]:
        """The jobs of a cluster that have not ended."""
        return tuple(self._active.get(ids.key(cluster.id), {}).values())

    def version(self, cluster: Cluster) -> int:
        """A number that grows when the cluster or one of its jobs changes."""
        return self._versions.get(ids.key(cluster.id), 0)

    def save(self, *records: Saved) -> None:
        """Keep these records, all or none. Raises StoreFullError."""
        self._file.put(
            [(_row_id(record), type(record).__name__, record.model_dump_json()) for record in records]
        )
        for record in records:
            self._shelve(record)

    def forget(self, *records: Resource) -> None:
        """Delete these records, all or none. Raises StoreFullError."""
        self._file.remove([_row_id(record) for record in records])
        for record in records:
            shelves = (self.groups, self.workspaces, self.experiments, self.clusters, self.jobs)
            for shelf in (*shelves, self.file_servers):
                shelf.drop(record.id)
            self.deleting.pop(ids.key(record.id), None)
            if isinstance(record, Job):
                self._active.get(record.cluster, {}).pop(ids.key(record.id), None)
                self._touch(record.cluster)

    def forget_operation(self, operation: Operation) -> None:
        """Delete an operation. Raises StoreFullError."""
        self._file.remove([_row_id(operation)])
        del self.operations[operation.name]

    def close(self) -> None:
        """Close the database, and let another process open it."""
        self._file.close()

    def _load(self) -> None:
        kinds = {
            kind.__name__: kind
            for kind in (Group, Workspace, Experiment, Cluster, Job, FileServer, Operation)
        }
        loaded = [kinds[kind].model_validate_json(body) for kind, body in self._file.read()]
        for record in sorted(loaded, key=lambda record: getattr(record, "sequence", 0)):
            self._shelve(record)
            self._sequence = max(self._sequence, getattr(record, "sequence", 0))
        self._add_groups()

    def _add_groups(self) -> None:
        """Add missing groups: earlier emulators accepted workspaces in groups that had never been created."""
        for workspace in self.workspaces:
            group = ids.parent(ids.parent(workspace.id))
            if self.groups.get(group) is None:
                created, number = workspace.created, self.next_sequence()
                self.save(Group(id=group, sequence=number, created=created, location=workspace.location))

    def _shelve(self, record: Saved) -> None:
        if isinstance(record, Operation):
            self.operations[record.name] = record
        else:
            self._save(record)
            if record.deleting:
                self.deleting[ids.key(record.id)] = record
            if isinstance(record, Job):
                self._note(record)
                self._touch(record.cluster)
            elif isinstance(record, Cluster):
                self._touch(ids.key(record.id))

    def _touch(self, cluster: str) -> None:
        self._versions[cluster] = self._versions.get(cluster, 0) + 1

    def _note(self, job: Job) -> None:
        jobs = self._active.setdefault(job.cluster, {})
        if job.active:
            jobs[ids.key(job.id)] = job
        else:
            jobs.pop(ids.key(job.id), None)

    def _save(self, record: Resource) -> None:
        match record:
            case Group():
                self.groups.put(record)
            case Workspace():
                self.workspaces.put(record)
            case Experiment():
                self.experiments.put(record)
            case Cluster():
                self.clusters.put(record)
            case Job():
                self.jobs.put(record)
            case FileServer():
                self.file_servers.put(record)


def _row_id(record: Saved) -> str:
    return f"operation/{record.name}" if isinstance(record, Operation) else ids.key(record.id)
