"""Nodes: they are assigned pods, and run them as processes."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.doubles.kubernetes.conditions import put
from tests.doubles.kubernetes.defaults import containers_of, gpus
from tests.doubles.kubernetes.job_controller import JobController
from tests.doubles.kubernetes.object_store import Object, Store
from tests.doubles.kubernetes.processes import clear, kill, moved


class Nodes:
    """All nodes of the cluster. `data` has a directory for each pod."""

    def __init__(self, store: Store, controller: JobController, data: Path) -> None:
        self._store, self._controller, self._data = store, controller, data
        self._running: dict[str, asyncio.Task[None]] = {}
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        #: nodes whose kubelet is dead: their processes go on, without reports
        self.silent: set[str] = set()
        #: images that no registry has
        self.absent_images: set[str] = set()
        #: claims whose volume cannot be mounted
        self.absent_volumes: set[str] = set()

    def add(self, name: str, gpus: int = 1, **labels: str) -> None:
        """Add a ready node."""
        status: dict[str, Any] = {"allocatable": {"nvidia.com/gpu": str(gpus)}, "conditions": []}
        node = {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": status}
        put(node, "Ready", "KubeletReady", "")
        self._store.add("nodes", "", node)

    def reconcile(self) -> None:
        """Handle all pods once: assign, start or end them."""
        for pod in self._store.all("pods"):
            node = pod["spec"].get("nodeName")
            uid = pod["metadata"]["uid"]
            if node in self.silent:
                continue
            if "deletionTimestamp" in pod["metadata"]:
                self._end(pod)
            elif pod["status"]["phase"] == "Pending":
                if node is None and not self._place(pod):
                    continue
                if uid not in self._running and self._is_complete(pod):
                    self._running[uid] = asyncio.create_task(self._run(pod))

    def take_away(self, pod: Object, reason: str, message: str) -> None:
        """Evict or preempt a pod; its Job records the disruption."""
        put(pod, "DisruptionTarget", reason, message)
        self._controller.end_pod(pod)

    def lose(self, name: str) -> None:
        """Kill a node's kubelet: Kubernetes gives up its pods, but cannot end them."""
        self.silent.add(name)
        node = self._store.get("nodes", "", name)
        put(node, "Ready", "NodeStatusUnknown", "Kubelet stopped posting node status.", is_true=False)
        node["status"]["conditions"][0]["status"] = "Unknown"
        self._store.touch(node)
        for pod in self._store.all("pods"):
            if pod["spec"].get("nodeName") == name and pod["status"]["phase"] == "Running":
                put(pod, "Ready", "NodeNotReady", "", is_true=False)
                text = "Taint manager: deleting due to NoExecute taint"
                self.take_away(pod, "DeletionByTaintManager", text)

    def log(self, pod: Object) -> bytes:
        """The output of a pod's process."""
        file = self._data / pod["metadata"]["uid"] / "log"
        return file.read_bytes() if file.exists() else b""

    async def close(self) -> None:
        """End everything that runs."""
        self.silent.clear()
        for uid, process in list(self._processes.items()):
            kill(process, signal.SIGKILL)
            clear(uid)
        for task in self._running.values():
            task.cancel()
        ends = await asyncio.gather(*self._running.values(), return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    def _place(self, pod: Object) -> bool:
        demand, selector = gpus(pod["spec"]), pod["spec"].get("nodeSelector") or {}
        nodes = self._store.all("nodes")
        lacking = 0
        for node in nodes:
            name = node["metadata"]["name"]
            ready = next(one for one in node["status"]["conditions"] if one["type"] == "Ready")
            if ready["status"] != "True" or node["spec"].get("unschedulable"):
                continue
            if not selector.items() <= (node["metadata"].get("labels") or {}).items():
                continue
            if demand <= self._free(node):
                pod["spec"]["nodeName"] = name
                put(pod, "PodScheduled", "", "", at=self._store.now())
                self._store.touch(pod)
                return True
            lacking += 1
        why = f"{lacking} Insufficient nvidia.com/gpu" if lacking else ""
        why = why or f"{len(nodes)} node(s) didn't match Pod's node affinity/selector"
        text = f"0/{len(nodes)} nodes are available: {why}. no new claims to deallocate"
        if put(pod, "PodScheduled", "Unschedulable", text, is_true=False):
            self._store.touch(pod)
        return False

    def _free(self, node: Object) -> int:
        name = node["metadata"]["name"]
        neighbours = [one for one in self._store.all("pods") if one["spec"].get("nodeName") == name]
        used = sum(
            gpus(one["spec"]) for one in neighbours if one["status"]["phase"] in ("Pending", "Running")
        )
        return int(node["status"]["allocatable"]["nvidia.com/gpu"]) - used

    def _is_complete(self, pod: Object) -> bool:
        """Whether the Secrets and ConfigMaps that a pod names exist; otherwise it waits."""
        namespace = pod["metadata"]["namespace"]
        demand = [
            ("secrets", one["secretRef"]["name"])
            for container in containers_of(pod["spec"])
            for one in container.get("envFrom") or ()
        ]
        volumes = pod["spec"].get("volumes") or ()
        demand += [("configmaps", one["configMap"]["name"]) for one in volumes if "configMap" in one]
        claims = {(one.get("persistentVolumeClaim") or {}).get("claimName") for one in volumes}
        if claims & self.absent_volumes:
            self._wait(pod, "ContainerCreating", "")
            text = 'MountVolume.SetUp failed for volume "data" : mount failed: exit status 32'
            self._store.event(pod, "FailedMount", text)
            return False
        if pod["spec"]["containers"][0]["image"] in self.absent_images:
            image = pod["spec"]["containers"][0]["image"]
            text = f'Back-off pulling image "{image}": ErrImagePull: {image}: not found'
            self._wait(pod, "ImagePullBackOff", text)
            return False
        absent_names = [name for plural, name in demand if not self._store.find(plural, namespace, name)]
        if not absent_names:
            return True
        self._wait(pod, "CreateContainerConfigError", f'secret "{absent_names[0]}" not found')
        return False

    def _wait(self, pod: Object, reason: str, message: str) -> None:
        if not pod["status"].get("containerStatuses"):
            self._state(pod, {"waiting": {"reason": reason, "message": message}}, "Pending")

    async def _run(self, pod: Object) -> None:
        uid, spec = pod["metadata"]["uid"], pod["spec"]
        home = self._data / uid
        home.mkdir(parents=True)
        places = self._volumes(pod, home)
        if not await self._run_first(pod, home, places):
            return
        container = spec["containers"][0]
        argv = [moved(word, places) for word in container.get("command") or ["true"]]
        env = {name: moved(value, places) for name, value in self._environment(pod, container).items()}
        started, limit = self._store.now(), spec.get("activeDeadlineSeconds")
        try:
            with (home / "log").open("wb") as log:
                process = await asyncio.create_subprocess_exec(
                    *argv, env=env, cwd=home, stdout=log, stderr=log, stdin=-3, start_new_session=True
                )
        except (OSError, ValueError):
            ended = {"exitCode": 128, "reason": "StartError", "startedAt": started, "finishedAt": started}
            self._state(pod, {"terminated": ended}, "Failed", startTime=started)
            return
        self._processes[uid] = process
        self._state(pod, {"running": {"startedAt": started}}, "Running", startTime=started)
        is_late = False
        try:
            async with asyncio.timeout(limit):
                code = await process.wait()
        except TimeoutError:
            is_late = True
            kill(process, signal.SIGKILL)
            code = await process.wait()
        except asyncio.CancelledError:  # its node ends: wait for the process, so that its transport is closed
            kill(process, signal.SIGKILL)
            await process.wait()
            raise
        clear(uid)
        code = 128 - code if code < 0 else code
        word = "Completed" if code == 0 else "Error"
        ended = {"exitCode": code, "reason": word, "startedAt": started, "finishedAt": self._store.now()}
        phase = "Succeeded" if code == 0 and not is_late else "Failed"
        more = {"reason": "DeadlineExceeded"} if is_late else {}
        if pod["spec"]["nodeName"] not in self.silent:
            self._state(pod, {"terminated": ended}, phase, startTime=started, **more)
            if "deletionTimestamp" in pod["metadata"]:
                self._remove(pod)

    async def _run_first(self, pod: Object, home: Path, places: dict[str, str]) -> bool:
        """Run the containers that have to end before the main one starts; whether all ended well."""
        statuses: list[dict[str, Any]] = []
        for container in pod["spec"].get("initContainers") or ():
            argv = [moved(word, places) for word in container["command"]]
            env = {name: moved(value, places) for name, value in self._environment(pod, container).items()}
            started = self._store.now()
            process = await asyncio.create_subprocess_exec(
                *argv, env=env, cwd=home, stdout=-1, stderr=-2, stdin=-3, start_new_session=True
            )
            self._processes[pod["metadata"]["uid"]] = process
            printed, _ = await process.communicate()
            code = process.returncode or 0
            ended = {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": started}
            ended["finishedAt"] = self._store.now()
            if code and container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
                ended["message"] = printed.decode()[-2048:]
            statuses.append({"name": container["name"], "state": {"terminated": ended}})
            pod["status"]["initContainerStatuses"] = statuses
            if code:
                self._state(pod, {"waiting": {"reason": "PodInitializing"}}, "Failed", startTime=started)
                if "deletionTimestamp" in pod["metadata"]:
                    self._remove(pod)
                return False
        return "deletionTimestamp" not in pod["metadata"]

    def _state(self, pod: Object, state: dict[str, Any], phase: str, **more: Any) -> None:
        container = {"name": "main", "state": state, "ready": phase == "Running", "restartCount": 0}
        pod["status"] |= {"phase": phase, "podIP": "127.0.0.1", "containerStatuses": [container], **more}
        put(pod, "Ready", "" if phase == "Running" else "PodCompleted", "", is_true=phase == "Running")
        self._store.touch(pod)

    def _end(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        task = self._running.get(uid)
        if task is None or task.done():
            self._remove(pod)
        elif not (self._data / uid / "asked").exists() and uid in self._processes:
            (self._data / uid / "asked").touch()
            with suppress(ProcessLookupError):  # only the first process of a container gets the signal
                self._processes[uid].send_signal(signal.SIGTERM)
            grace = float(pod["spec"].get("terminationGracePeriodSeconds", 30))
            loop = asyncio.get_running_loop()
            loop.call_later(grace, kill, self._processes[uid], signal.SIGKILL)

    def _remove(self, pod: Object) -> None:
        listed = pod["status"].get("conditions") or ()
        owner: Object = next(iter(pod["metadata"].get("ownerReferences") or ()), {})
        if any(one["type"] == "DisruptionTarget" for one in listed):
            name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            notes = self._controller.disrupted.setdefault(str(owner.get("uid")), [])
            notes.append(f"Pod {name} has condition DisruptionTarget")
        self._store.remove("pods", pod)

    def _environment(self, pod: Object, container: Object) -> dict[str, str]:
        metadata = pod["metadata"]
        env = {"PATH": os.environ["PATH"], "HOSTNAME": pod["spec"].get("hostname", metadata["name"])}
        for one in container.get("envFrom") or ():
            secret = self._store.get("secrets", metadata["namespace"], one["secretRef"]["name"])
            env |= {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}
        fields = {
            "metadata.uid": metadata["uid"],
            "metadata.name": metadata["name"],
            "metadata.namespace": metadata["namespace"],
            "spec.nodeName": pod["spec"]["nodeName"],
            "status.podIP": "127.0.0.1",
        }
        for one in container.get("env") or ():
            path = ((one.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath")
            env[one["name"]] = fields[path] if path else one.get("value", "")
        return env

    def _volumes(self, pod: Object, home: Path) -> dict[str, str]:
        """Directories in the container → directories here; volumes of claims have the same path."""
        origins = {one["name"]: one for one in pod["spec"].get("volumes") or ()}
        places = {}
        for mount in pod["spec"]["containers"][0].get("volumeMounts") or ():
            origin = origins[mount["name"]]
            if "configMap" not in origin and "emptyDir" not in origin:
                continue
            directory = home / mount["name"]
            directory.mkdir()
            places[mount["mountPath"]] = str(directory)
            if "configMap" in origin:
                name = origin["configMap"]["name"]
                texts = self._store.get("configmaps", pod["metadata"]["namespace"], name)["data"]
                for file, text in texts.items():
                    (directory / file).write_text(text)
        return places
