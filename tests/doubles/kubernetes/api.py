"""The verbs of the API over the store: create, read, list, patch, delete."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from tests.doubles.kubernetes.checks import check_fields, check_job
from tests.doubles.kubernetes.conditions import put
from tests.doubles.kubernetes.defaults import defaulted
from tests.doubles.kubernetes.errors import Refusal, absent, forbidden, invalid, resource
from tests.doubles.kubernetes.job_controller import JobController
from tests.doubles.kubernetes.kueue import Kueue
from tests.doubles.kubernetes.object_store import KINDS, Object, Store
from tests.doubles.kubernetes.requests import Subject, merged, selected, subject
from tests.doubles.kubernetes.tables import table

Query = Mapping[str, str]
#: The webhooks that check each change of such an object, where Kueue is installed.
_HOOKS = {"jobs": "vjob.kb.io", "workloads": "vworkload.kb.io"}


class Api:
    """One server: its store, and the controllers that requests involve directly."""

    def __init__(self, store: Store, jobs: JobController, kueue: Kueue, *, is_old: bool) -> None:
        self.store, self._jobs, self._kueue = store, jobs, kueue
        self._is_old = is_old
        #: members of a Job's spec that it drops silently, as a webhook may
        self.lossy: tuple[str, ...] = ()
        #: continue token → the rest of a list
        self._rests: dict[str, list[Object]] = {}

    def create(self, about: Subject, document: Any, query: Query) -> tuple[int, Any]:
        if about.below == "eviction":
            return self._evict(about)
        if not isinstance(document, dict):
            text = "the object provided is unrecognized (must be of type Job): couldn't get version/kind"
            raise Refusal(400, "BadRequest", text)
        own = copy.deepcopy(document)
        if about.plural == "jobs":
            own = self._checked(about, own, query)
            for name in self.lossy:
                own["spec"].pop(name, None)
        self._check_namespace(about)
        own.setdefault("metadata", {})
        if query.get("dryRun"):
            own["metadata"]["uid"] = str(uuid.uuid4())
            return 201, defaulted(own, own["metadata"]["uid"], is_old=self._is_old)
        document_stored = self.store.add(about.plural, about.namespace, own)
        if about.plural == "jobs":
            uid = document_stored["metadata"]["uid"]
            document_stored.update(defaulted(document_stored, uid, is_old=self._is_old))
            self.store.touch(document_stored)
        return 201, copy.deepcopy(document_stored)

    def read(self, about: Subject) -> Any:
        return self.store.get(about.plural, about.namespace, about.name)

    def list(self, about: Subject, query: Query, *, as_table: bool) -> Any:
        self._check_namespace(about, may_be_absent=True)
        following = query.get("continue", "")
        if following:
            if following not in self._rests:
                text = "The provided continue parameter is too old to display a consistent list result."
                raise Refusal(410, "Expired", text)
            objects = self._rests.pop(following)
        else:
            every = self.store.all(about.plural, about.namespace or None)
            objects = selected(every, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        limit = int(query.get("limit") or 0) or len(objects)
        metadata: dict[str, Any] = {"resourceVersion": str(self.store.version)}
        if len(objects) > limit:
            metadata |= {"continue": uuid.uuid4().hex, "remainingItemCount": len(objects) - limit}
            self._rests[metadata["continue"]] = objects[limit:]
        if as_table:
            form = query.get("includeObject", "Metadata")
            return table(about.plural, objects[:limit], metadata, form, is_old=self._is_old)
        kind = KINDS[about.plural]
        version = f"{kind['group']}/{kind['version']}" if kind["group"] else kind["version"]
        head = {"kind": f"{kind['kind']}List", "apiVersion": version, "metadata": metadata}
        return {**head, "items": objects[:limit]}

    def patch(self, about: Subject, patch: Any) -> Any:
        if about.plural in _HOOKS:
            self._kueue.check(_HOOKS[about.plural])
        current = self.store.get(about.plural, about.namespace, about.name)
        changed = merged(current, patch)
        if about.plural == "jobs" and changed["spec"]["template"] != current["spec"]["template"]:
            cause = ("FieldValueInvalid", "Invalid value: …: field is immutable", "spec.template")
            raise invalid(KINDS["jobs"], about.name, [cause])
        if self._is_old and about.plural == "jobs":
            changed["spec"].pop("suspend", None)
        current.clear()
        current.update(changed)
        self.store.touch(current)
        return current

    def delete(self, about: Subject, query: Query, body: Any) -> Any:
        current = self.store.get(about.plural, about.namespace, about.name)
        options = body if isinstance(body, dict) else {}
        expected_uid = (options.get("preconditions") or {}).get("uid")
        kind, metadata = KINDS[about.plural], current["metadata"]
        if expected_uid and expected_uid != metadata["uid"]:
            text = f'Operation cannot be fulfilled on {resource(kind)} "{about.name}": the UID differs'
            raise Refusal(409, "Conflict", text, name=about.name)
        if about.plural == "pods":
            self._jobs.end_pod(current)
            return current
        policy = str(query.get("propagationPolicy") or options.get("propagationPolicy") or "Orphan")
        if about.plural == "jobs" and policy == "Foreground":
            metadata |= {"deletionTimestamp": self.store.now(), "finalizers": ["foregroundDeletion"]}
            self.store.touch(current)
            self._collect(current)
            return current
        self.store.remove(about.plural, current)
        if about.plural == "jobs" and policy == "Orphan":
            for _, one in self.store.owned(current):
                one["metadata"].pop("ownerReferences")
                self.store.touch(one)
            metadata |= {"deletionTimestamp": self.store.now(), "finalizers": ["orphan"]}
            return current
        self._collect(current)
        if about.plural in ("resourcequotas", "services"):
            return current
        details = {"name": about.name, "kind": about.plural, "uid": metadata["uid"]}
        details |= {"group": kind["group"]} if kind["group"] else {}
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}

    def reconcile(self) -> None:
        """Collect garbage: Jobs whose pods are gone, and those whose time to live is over."""
        for job in self.store.all("jobs"):
            if "deletionTimestamp" in job["metadata"] and not list(self.store.owned(job)):
                self.store.remove("jobs", job)
            elif _is_past(job, self.store.clock()):
                self.store.remove("jobs", job)
                self._collect(job)

    def answer(self, method: str, path: str, query: Query, body: Any, *, as_table: bool) -> tuple[int, Any]:
        """Status and body. `body` is None if it is not JSON, and empty if there is none."""
        try:
            about = subject(path)
            if method == "POST":
                return self.create(about, body, query)
            if method == "GET" and not about.name:
                return 200, self.list(about, query, as_table=as_table)
            verbs: dict[str, Callable[[], Any]] = {
                "GET": lambda: self.read(about),
                "PATCH": lambda: self.patch(about, body),
                "DELETE": lambda: self.delete(about, query, body),
            }
            return 200, verbs[method]()
        except Refusal as refusal:
            return refusal.code, refusal.body

    def _collect(self, owner: Object) -> None:
        for plural, one in self.store.owned(owner):
            if plural == "pods":
                self._jobs.end_pod(one)
            else:
                self.store.remove(plural, one)

    def _checked(self, about: Subject, document: Any, query: Query) -> Any:
        check_fields(document, strict=query.get("fieldValidation") == "Strict", is_old=self._is_old)
        check_job(document)
        self._kueue.admit(document)
        name = document["metadata"]["name"]
        if not self.store.find("jobs", about.namespace, name):
            used = len(self.store.all("jobs", about.namespace))
            for quota in self.store.all("resourcequotas", about.namespace):
                most = (quota["spec"].get("hard") or {}).get("count/jobs.batch")
                if most is not None and used >= int(most):
                    counted = "count/jobs.batch"
                    words = f"requested: {counted}=1, used: {counted}={used}, limited: {counted}={most}"
                    text = f"exceeded quota: {quota['metadata']['name']}, {words}"
                    raise forbidden(KINDS["jobs"], name, text)
        return document

    def _check_namespace(self, about: Subject, *, may_be_absent: bool = False) -> None:
        if about.namespace and not may_be_absent and not self.store.find("namespaces", "", about.namespace):
            raise absent(KINDS["namespaces"], about.namespace)

    def _evict(self, about: Subject) -> tuple[int, Any]:
        pod = self.store.get("pods", about.namespace, about.name)
        put(pod, "DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting")
        self._jobs.end_pod(pod)
        return 201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


def _is_past(job: Object, now: float) -> bool:
    """Whether a Job has ended and its time to live is over."""
    limit = job["spec"].get("ttlSecondsAfterFinished")
    ends = [one for one in job["status"].get("conditions") or () if one["type"] in ("Complete", "Failed")]
    if limit is None or not ends:
        return False
    return now - datetime.fromisoformat(ends[0]["lastTransitionTime"]).timestamp() > int(limit)
