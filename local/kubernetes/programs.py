"""Kubernetes' programs: those that were built here, or those of a folder that a person names."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from local.process import StartError

ROOT = Path(__file__).resolve().parents[2]
#: The version that Debian 12 has the source of.
VERSION = "1.20.2"
SERVERS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
#: The programs that make pods.
_TOOLS = ("unshare", "setpriv", "mount", "nsenter")
#: Names a folder with the servers of another version.
SETTING = "KUBERNETES_PROGRAMS"
_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class KubernetesError(StartError):
    """The cluster cannot run here, or did not start; the message has the remedy."""


@dataclass(frozen=True)
class Programs:
    """Where they are: `folder` has the servers, the system has etcd."""

    folder: Path

    def server(self, name: str) -> Path:
        """The file of that name among them."""
        return self.folder / name

    def takes(self, name: str, flag: str) -> bool:
        """Whether a server of this version has a flag."""
        lines = subprocess.run([self.server(name), "--help"], check=False, capture_output=True).stdout
        return f"      --{flag} ".encode() in lines

    def missing_programs(self) -> tuple[str, ...]:
        """The missing programs; none if all are there."""
        servers = [name for name in SERVERS if not os.access(self.folder / name, os.X_OK)]
        others = [name for name in ("etcd", *_TOOLS) if not shutil.which(name, path=_SYSTEM)]
        return (*servers, *others, *([] if has_client() else ["kubectl"]))

    def require(self) -> None:
        """Raises KubernetesError, with the remedy, when something is missing."""
        if lacking := ", ".join(self.missing_programs()):
            raise KubernetesError(
                f"Kubernetes is not here ({lacking} not found): run `make install-kubernetes`, "
                f"or set {SETTING} to a folder that has {', '.join(SERVERS)}"
            )


def has_client() -> bool:
    """Whether people can look into a cluster: kubectl, of any version and from anywhere."""
    return shutil.which("kubectl") is not None


def built() -> Path:
    """The folder of the programs that are built here."""
    return ROOT / ".local" / f"kubernetes-{VERSION}"


def find_programs() -> Programs:
    """Those of the folder in KUBERNETES_PROGRAMS; without it, those that were built here."""
    folder = os.environ.get(SETTING)
    return Programs(Path(folder).resolve() if folder else built())
