"""The `ssh` of a node: all nodes are on this machine, so a command for another node runs here.

A shell script on the PATH of jobs, for hosts and images without a Python; so Open MPI, and any other program
that logs in to nodes without a password, needs no ssh server. For other hosts the real ssh is run.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = r"""#!/bin/sh
# No name here is one that a job may have in its environment.
_host= _rest= _command= _value= _plain= _quiet=
for _word do
  if [ "$_rest" ]; then _command="$_command $_word"
  elif [ "$_value" ]; then _value=
  else
    case $_plain$_word in
      --) _plain=1 ;;
      # As getopt: letters, of which the first with a value takes the rest, or else the next word.
      -?*)
        _word=${_word#-}
        while [ "$_word" ]; do
          case $_word in
            q*) _quiet=1 ;;
            [BbcDEeFIiJLlmOoPpQRSWw]) _value=1 ;;
            [BbcDEeFIiJLlmOoPpQRSWw]*) break ;;
          esac
          _word=${_word#?}
        done ;;
      # Options may follow the host, too.
      *) if [ "$_host" ]; then _command=$_word _rest=1; else _host=${_word##*@} _plain=; fi ;;
    esac
  fi
done
case $_host in
@NODES@
  *)
    IFS=:
    for _directory in $PATH; do
      case $_directory in @OWN@) continue ;; esac
      [ ! -x "$_directory/ssh" ] || exec "$_directory/ssh" "$@"
    done
    echo "ssh: that host is not a node of the job, and there is no ssh client here" >&2
    exit 255 ;;
esac
if [ -z "$_command" ]; then
  echo "ssh: $_host is a node of an emulated cluster: give a command to run there" >&2
  exit 255
fi
moved() { sed @MOVE@"$_root|g"; }
@GREET@
eval "$(export -p | moved)"
[ -z "$_gpus" ] || export CUDA_VISIBLE_DEVICES="$_gpus"
# Daemons of Open MPI on two nodes would work in one directory, and trip over each other.
export OMPI_MCA_orte_tmpdir_base="$_at/tmp" PRTE_MCA_prte_tmpdir_base="$_at/tmp"
mkdir -p "$_at/tmp"
# A login starts at home; Open MPI expects the directory that it is called in, where there is one.
cd "$(pwd | moved)" 2>/dev/null || cd "$_at" || exit 255
exec /bin/sh -c "$_command"
"""
#: In OpenSSH's words, only for addresses of the service's network: mpirun uses those of the host file.
_LINE = r"""printf "Warning: Permanently added '%s' (ECDSA) to the list of known hosts.\r\n" """
_GREET = rf"""case $_quiet$_host in 10.*)
  grep -qxF "$_host" @KNOWN@ 2>/dev/null || {{
    echo "$_host" >> @KNOWN@
    {_LINE}"$_host" >&2
  }} ;;
esac"""
#: In containers the service's ssh server listened on port 23, and their ssh remembered no host.
_GREET_IN_CONTAINER = rf"""case $_quiet$_host in 10.*) {_LINE}"[$_host]:23" >&2 ;; esac"""


@dataclass(frozen=True)
class Peer:
    """A node of a job: its address, its root directory, and the numbers of its GPUs."""

    address: str
    root: Path
    gpus: Sequence[int]


def service_address(index: int) -> str:
    """The address of a node in the service's network; jobs have such addresses in their command lines."""
    return f"10.0.0.{4 + index}"


def write_ssh(config: Path, nodes: Sequence[Peer], own: Sequence[Path], contained: bool) -> None:
    """Put an `ssh` that reaches the job's nodes into a directory; `own` are the directories that have one."""
    cases = [
        f"  {peer.address}|{service_address(index)}) _at={shlex.quote(str(peer.root))} "
        f"_root={shlex.quote(_replacement(str(peer.root)))} _gpus={','.join(map(str, peer.gpus))} ;;"
        for index, peer in enumerate(nodes)
    ]
    # The numbers of nodes are the last part of their roots.
    root = _pattern(str(nodes[0].root.parent))
    greet = (
        _GREET_IN_CONTAINER if contained else _GREET.replace("@KNOWN@", shlex.quote(str(config / "known")))
    )
    text = _SCRIPT.replace("@NODES@", "\n".join(cases)).replace("@GREET@", greet)
    text = text.replace("@OWN@", "|".join(shlex.quote(str(one)) for one in own))
    text = text.replace("@MOVE@", shlex.quote(f"s|{root}/[0-9][0-9]*|"))
    script = config / "ssh"
    script.write_text(text)
    script.chmod(0o755)


def _pattern(text: str) -> str:
    return re.sub(r"([][\\.*^$|])", r"\\\1", text)


def _replacement(text: str) -> str:
    return re.sub(r"([\\&|])", r"\\\1", text)
