"""The few shell scripts for the nodes: constants; everything that varies is in variables. Pure.

`{RANK}` and `{NODE}` stand for the scheduler's variables. A person's command is in $SLIPWAY_COMMAND.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)

#: Becomes a process of the job, with the variables that its author chose (`node/processes.py`), which have
#: other names until then. Words are positional: a variable of the job may have any name.
_BECOME = (
    'set -- "$BASH" "${!SLIPWAY_OWN_@}"; while [ $# -gt 1 ]; do '
    'declare -x "${2#SLIPWAY_OWN_}=${!2}" 2>/dev/null; unset "$2"; set -- "$1" "${@:3}"; done; '
    'exec -a bash "$1" -c "$SLIPWAY_COMMAND"'
)

#: The job's own command, in its working directory.
ONE = f'cd "$SLIPWAY_WORK" || exit; {_BECOME}'

#: The same for a process that waits there, also where the job has removed it.
STAY = f'mkdir -p "$SLIPWAY_WORK" 2>/dev/null; cd "$SLIPWAY_WORK" 2>/dev/null || cd / || exit; {_BECOME}'

#: Waits as a process of the job, so many times two seconds as its first word says, or until a person wants
#: the node back. It ends by itself: the node may have lost what would end it.
HOLDING = (
    'while [ "$1" -gt 0 ] && [ ! -f "$AZ_BATCHAI_JOB_TEMP/release" ]; do '
    "sleep 2 2>/dev/null || /bin/sleep 2 || exit; set -- $(($1 - 1)); done; exit 1"
)
#: The same, with that number.
HOLD = f"set -- %d; {HOLDING}"

_INDEX = "AZ_BATCHAI_TASK_INDEX"
#: One of several processes, with a number and files of its own.
RANKED = (
    'cd "$SLIPWAY_WORK" || exit; export AZ_BATCHAI_TASK_INDEX="$%s"; '
    'exec >>"$AZ_BATCHAI_STDOUTERR_DIR/stdout-$AZ_BATCHAI_TASK_INDEX.txt" '
    '2>>"$AZ_BATCHAI_STDOUTERR_DIR/stderr-$AZ_BATCHAI_TASK_INDEX.txt"; '
    f"unset SLIPWAY_OWN_{_INDEX}; {_BECOME}"
)

#: The job preparation on one of several nodes, named by the scheduler's variable.
PREPARE = (
    'cd "$SLIPWAY_WORK" || exit; '
    'exec >>"$AZ_BATCHAI_STDOUTERR_DIR/stdout-job_prep-$%s.txt" '
    '2>>"$AZ_BATCHAI_STDOUTERR_DIR/stderr-job_prep-$%s.txt"; '
    f"{_BECOME}"
)

#: Makes a node's directories, and shows the mounts below the job's mount root. In /tmp, another user may have
#: made the directories above, and could replace them. Then it removes the leftovers of runs that were killed
#: or whose node died: those whose time was over a day ago.
SETUP = """mkdir -p -m 700 "$SLIPWAY_TEMP" || exit
for at in "${SLIPWAY_TEMP%/*/*}" "${SLIPWAY_TEMP%/*}" "$SLIPWAY_TEMP"; do
  case $(stat -c %u "$at") in
    0 | "$(id -u)") ;;
    *) echo "$at on $(uname -n) belongs to another user" >&2; exit 1 ;;
  esac
done
echo "$SLIPWAY_UNTIL" >"$SLIPWAY_TEMP.until" || exit
for left in "${SLIPWAY_TEMP%/*/*}"/*/*.until; do
  [ -O "$left" ] && [ -f "$left" ] && read -r until <"$left" || continue
  [ "$until" -lt "$SLIPWAY_OVER" ] 2>/dev/null || continue
  rm -rf --one-file-system -- "${left%.until}" "$left"
  rmdir -- "${left%/*}" 2>/dev/null
done
mkdir -p "$SLIPWAY_WORK" "$AZ_BATCHAI_JOB_MOUNT_ROOT" || exit
while IFS=$(printf '\\t') read -r at to; do
  [ -n "$at" ] || continue
  [ -d "$to" ] || { echo "There is no directory $to on $(uname -n)" >&2; exit 1; }
  mkdir -p "$(dirname "$AZ_BATCHAI_JOB_MOUNT_ROOT/$at")" || exit
  ln -sfn "$to" "$AZ_BATCHAI_JOB_MOUNT_ROOT/$at" || exit
done <<END
$SLIPWAY_LINKS
END
"""


#: Prints the load of its node every 15 seconds, and half as often after each 1,000 lines: some 5,000 lines a
#: week. It ends with its parent, whose process id may be the first argument, since the parent may end before
#: it looks. It leaves out values that it cannot find, and ends if it cannot sleep.
USAGE = """exec 2>/dev/null
every=15 lines=0 before= parent=${1:-$PPID}
while IFS= read -r own </proc/$$/stat; do
  set -- ${own##*) }
  [ "$2" = "$parent" ] || break
  read -r _ user nice system idle wait irq soft steal _ </proc/stat || break
  now=$((user + nice + system + idle + wait + irq + soft + steal)) idle=$((idle + wait))
  line="\\"rank\\": ${{RANK}:-0}, \\"time\\": $(date +%s)"
  if [ -n "$before" ] && [ "$now" -gt "$before" ]; then
    line="$line, \\"cpu_percent\\": $((100 - 100 * (idle - idled) / (now - before)))"
  fi
  before=$now idled=$idle all= free=
  while read -r name number _; do
    case $name in MemTotal:) all=$number ;; MemAvailable:) free=$number ;; esac
  done </proc/meminfo
  [ -n "$free" ] && line="$line, \\"memory_mib\\": $(((all - free) / 1024))"
  while IFS=', ' read -r gpu percent mib _; do
    case $gpu in '' | *[!0-9]*) continue ;; esac
    case $percent in '' | *[!0-9]*) ;; *) line="$line, \\"gpu${gpu}_percent\\": $percent" ;; esac
    case $mib in '' | *[!0-9]*) ;; *) line="$line, \\"gpu${gpu}_memory_mib\\": $mib" ;; esac
  done <<END
$(command -v nvidia-smi >/dev/null && timeout --foreground 10 nvidia-smi \\
    --query-gpu=index,utilization.gpu,memory.used --format=csv,noheader,nounits)
END
  echo "{$line}"
  lines=$((lines + 1))
  [ $((lines % 1000)) = 0 ] && every=$((2 * every))
  sleep "$every" || break
done
"""

#: Copies what an earlier job saved ($0) to where this one saves ($1), by way of a directory of this run ($2):
#: all of it or nothing, and once, as its attempts go on from what they saved themselves. The copy of a run
#: that was killed may be made beside that of the next one; `mv` would put one into the other.
RESUME = """[ ! -d "$1" ] || exit 0
[ -d "$0" ] || { echo "There is nothing in $0: that job did not run here, or it is archived"; exit 1; }
mkdir -p -- "${1%/*}" && mkdir -m 700 -- "$2" || exit
text=$(cp -a -- "$0/." "$2/" 2>&1) || { echo "$0 could not be copied: ${text%%$'\n'*}"; exit 1; }
chmod u+rwx -- "$2" || exit
python3 -I -c 'import os, sys; os.rename(*sys.argv[1:])' "$2" "$1" 2>/dev/null
rm -rf -- "${2%/*/*}"/*/saved 2>/dev/null
[ -d "$1" ] || { echo "$1 cannot be made"; exit 1; }
"""

#: Removes a run's directory on a node (its argument), and the attempt's after the last run. It does not enter
#: mounts that a job has made there.
CLEANUP = 'rm -rf --one-file-system -- "$0" "$0.until"; rmdir -- "${0%/*}" 2>/dev/null; :'

#: Runs the program that brings files to a container, with its words as arguments.
KEEP = 'exec python3 -I "$AZ_BATCH_TASK_WORKING_DIR/keep.py" "$0" "$@"'


def quote(text: str, names: Collection[str]) -> str:
    """Shell text for a word of the job file: the node expands known variables, everything else is literal."""
    result, end = "", 0
    for match in _VARIABLE.finditer(text):
        name = match[1] or match[2]
        if name in names:
            result += _literal(text[end : match.start()]) + f'"${{{name}}}"'
            end = match.end()
    return (result + _literal(text[end:])) or "''"


def _literal(text: str) -> str:
    return shlex.quote(text) if text else ""
