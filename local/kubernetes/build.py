"""`python -m local.kubernetes.build`: build Kubernetes out of Debian's source package, once.

Debian 12 has the whole source of Kubernetes 1.20.2 and packages only the client of it. It takes about 13
minutes of a processor and 2 GB of disk while it is built; 350 MB stay. Nothing but Debian's packages is used.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.kubernetes.programs import (
    SERVERS,
    SETTING,
    VERSION,
    KubernetesError,
    built,
    find_programs,
    has_client,
)
from local.process import StartError
from local.setup.debian import execute, install_packages
from local.setup.interpreter import InstallError

#: The packages that build them, and etcd, which runs with them.
PACKAGES = (
    "dpkg-dev",
    "etcd-server",
    "golang-github-modern-go-reflect2-dev",
    "golang-go",
    "jq",
    "make",
    "rsync",
)
#: kubectl; with another package of it, such as Google's, it cannot be installed.
_CLIENT = "kubernetes-client"
_ELSEWHERE = f"on another system put {', '.join(SERVERS)} into a folder, and set {SETTING} to it"
_BY_HAND = (
    "Kubernetes is built out of Debian's source package, and there is no apt-get here: "
    f"{_ELSEWHERE}; and install etcd and kubectl"
)
_VERSION = "1.20.5+really1.20.2-1.1+deb12u1"
_SOURCE, _REVISION = "kubernetes_1.20.5+really1.20.2", "-1.1+deb12u1"
#: The files of the source package, with their SHA-256 digests.
_FILES = {
    f"{_SOURCE}.orig.tar.gz": "b83c0780efb182d928dc63d46488a847f161f04e40a94b96bf5247dd671ecdfc",
    f"{_SOURCE}{_REVISION}.debian.tar.xz": "9b6e5fd41769d2b5badf2e73b274e3bcd90f85e13d06a1a4a845ccce018127d8",
}
_REFLECT = Path("/usr/share/gocode/src/github.com/modern-go/reflect2")
_APT = Path("/etc/apt")
#: Seconds between two lines that say how far it is.
_INTERVAL = 15.0


def build() -> None:
    """Install and build the missing programs. Raises InstallError or KubernetesError."""
    programs = find_programs()
    if not programs.missing_programs():
        return
    install_packages([*PACKAGES, *([] if has_client() else [_CLIENT])], _BY_HAND)
    folder = built()
    if programs.folder == folder:
        with _only_one(folder):
            if programs.missing_programs():
                _build(folder)
    programs.require()


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"another process builds in {folder}: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(folder: Path) -> None:
    _say("building Kubernetes out of Debian's source package, this once: about 13 minutes of a processor")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    _fetch(work)
    source = work / "source"
    shutil.rmtree(source, ignore_errors=True)
    execute(["dpkg-source", "--no-check", "-x", str(work / f"{_SOURCE}{_REVISION}.dsc"), str(source)])
    _replace_reflect(source)
    _compile(source, work / "home")
    for name in SERVERS:
        program = next(source.glob(f"_output/local/bin/linux/*/{name}"), None)
        if program is None:
            raise KubernetesError(f"the build ended well, and there is no {name} in {source}/_output")
        program.rename(folder / name)
    shutil.rmtree(work, ignore_errors=True)


def _fetch(work: Path) -> None:
    """The files of the source package, which its digests prove. Raises KubernetesError."""
    if not all(_is_there(work / name, digest) for name, digest in _FILES.items()):
        options = _sources(work / "apt")
        try:
            execute(["apt-get", *options, "update", "-qq"])
            fetch = ["apt-get", *options, "source", "-qq", "--download-only", f"kubernetes={_VERSION}"]
            execute(["sh", "-c", 'cd "$0" && exec "$@"', str(work), *fetch])
        except InstallError as error:
            text = f"there is no source package of Kubernetes {VERSION} to be had, as Debian 12 has it"
            raise KubernetesError(f"{text} ({error}): {_ELSEWHERE}") from None
    for name, digest in _FILES.items():
        if not _is_there(work / name, digest):
            raise KubernetesError(f"{work / name} is not the file that Debian has: remove it, and try again")


def _is_there(file: Path, digest: str) -> bool:
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == digest


def _sources(folder: Path) -> list[str]:
    """Options of apt-get for the source packages of where this machine has its packages from."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "parts").mkdir()
    for file in (_APT / "sources.list", *sorted((_APT / "sources.list.d").glob("*"))):
        text = file.read_text() if file.is_file() else ""
        if file.suffix == ".sources":
            text = re.sub(r"(?m)^Types:.*", "Types: deb-src", text)
        else:
            text = re.sub(r"(?m)^deb ", "deb-src ", text)
        (folder / "parts" / file.name).write_text(text)
    (folder / "main.list").touch()
    settings = {
        "sourcelist": folder / "main.list",
        "sourceparts": folder / "parts",
    }
    options = [f"--option=Dir::Etc::{name}={path}" for name, path in settings.items()]
    return [*options, f"--option=Dir::State::Lists={folder / 'lists'}"]


def _replace_reflect(source: Path) -> None:
    """Its own copy of reflect2 panics under Go 1.18 and later at the first JSON body; Debian's does not."""
    own = source / "vendor" / "github.com" / "modern-go" / "reflect2"
    for file in (*own.glob("*.go"), *own.glob("*.s")):
        file.unlink()
    for file in (*_REFLECT.glob("*.go"), *_REFLECT.glob("*.s")):
        if not file.name.endswith("_test.go"):
            shutil.copy(file, own)


def _compile(source: Path, home: Path) -> None:
    """Run `make` for the servers, with reports of its progress. Raises KubernetesError."""
    within = source / ".go" / "src" / "k8s.io"
    within.mkdir(parents=True)
    (within / "kubernetes").symlink_to("../../..")
    home.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GOPATH": str(source / ".go")}
    environment |= {"CGO_ENABLED": "0", "LC_ALL": "C.UTF-8"}
    argv = ["nice", "-n", "19", "make", f"WHAT={' '.join(f'cmd/{name}' for name in SERVERS)}"]
    log = source.parent / "build.log"
    start = time.monotonic()
    with (
        log.open("wb") as out,
        subprocess.Popen(argv, cwd=source, env=environment, stdout=out, stderr=subprocess.STDOUT) as make,
    ):
        while _is_running(make):
            _say(f"{time.monotonic() - start:5.0f} s: {(_lines(log) or ['beginning'])[-1]}")
    if make.returncode:
        raise KubernetesError(f"the build failed, see {log}: {' | '.join(_lines(log)[-3:])}")


def _is_running(make: "subprocess.Popen[bytes]") -> bool:
    """Whether it still runs after a while."""
    try:
        make.wait(_INTERVAL)
    except subprocess.TimeoutExpired:
        return True
    return False


def _lines(log: Path) -> list[str]:
    return [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """The exit code; 1 with the reason on standard error."""
    try:
        build()
    except (InstallError, StartError) as error:
        sys.stderr.write(f"kubernetes: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
