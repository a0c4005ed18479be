"""What runs on a node before the words of a person: it becomes a process of the job.

Only the job's own processes have its id in their environment. The oldest of them, or the oldest of the wanted
rank, lends its environment and its directory, so the values are the true ones, and nothing is stored on the
node. The kernel shows them to the same user only. What was entered has a mark, and is not taken for the job.

It travels as an argument, in Python, which keeps every byte, and in POSIX shell for a node without Python.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Exits with this, as ssh and kubectl do, if there is nothing to enter.
NOTHING = 255
#: Variables that hold the rank of a process.
_RANKS = "OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK AZ_BATCHAI_TASK_INDEX SLIPWAY_RANK"
_MARK = "SLIPWAY_ENTERED"
_NOTHING = "slipway: no process of attempt {} of {} runs here: it has not begun, has ended, or is elsewhere"

PYTHON = f"""
import os, shutil, signal, sys
job, attempt, rank, term, *words = sys.argv[1:]
mark = {{b"SLIPWAY_JOB_ID": job.encode(), b"SLIPWAY_ATTEMPT": attempt.encode()}}
own = []
for pid in filter(str.isdecimal, os.listdir("/proc")):
    try:
        with open("/proc/%s/environ" % pid, "rb") as file:
            pairs = [one.partition(b"=") for one in file.read().split(b"\\0") if b"=" in one]
        env = {{name: value for name, _, value in pairs}}
        if mark.items() <= env.items() and b"{_MARK}" not in env:
            with open("/proc/%s/stat" % pid, errors="replace") as file:
                begun = int(file.read().rpartition(")")[2].split()[19])
            ranks = [env.get(name.encode()) for name in "{_RANKS}".split()]
            own.append((rank.encode() not in ranks, begun, pid, env))
    except OSError:
        pass
if not own:
    sys.stderr.write("{_NOTHING}\\n".format(attempt, job))
    sys.exit({NOTHING})
_, _, pid, env = min(own, key=lambda one: one[:2])
try:
    os.chdir("/proc/%s/cwd" % pid)
except OSError as error:
    sys.stderr.write("slipway: the directory of the job: %s\\n" % error.strerror)
    sys.exit({NOTHING})
env[b"{_MARK}"], env[b"PWD"] = b"1", os.getcwdb()
for name in (b"TERM", b"OLDPWD"):
    env.pop(name, None)
if term:
    env[b"TERM"] = term.encode()
path = env.get(b"PATH", os.defpath.encode()).decode(errors="surrogateescape")
words = words or [shutil.which("bash", path=path) or "/bin/sh"]
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
try:
    os.execvpe(words[0], words, env)
except OSError as error:
    sys.stderr.write("slipway: %s: %s\\n" % (words[0], error.strerror))
    sys.exit(127 if isinstance(error, FileNotFoundError) else 126)
"""

#: Chooses Python, which is the first argument, or does the same. Two bytes stand for each other in between:
#: a value with the byte 1 gets a new line there, and names that no shell takes are left out.
SHELL = r"""
PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
export PATH
if command -v python3 >/dev/null; then
  slipway_program=$1
  shift
  exec python3 -I -c "$slipway_program" "$@"
fi
slipway_job=$2 slipway_attempt=$3 slipway_rank=$4 slipway_term=$5
shift 5
slipway_line='
'
slipway_lines() { LC_ALL=C tr '\n\000' '\001\n' <"$1/environ"; }
slipway_begun() {
  read -r slipway_stat <"$1/stat" || return
  set -- ${slipway_stat##*) }
  shift 19
  slipway_begun=$1
}
slipway_own=
for slipway_at in /proc/[0-9]*; do
  [ -r "$slipway_at/environ" ] || continue
  slipway_text=$slipway_line$(slipway_lines "$slipway_at" 2>/dev/null)$slipway_line
  case $slipway_text in *"${slipway_line}MARK="*) continue ;; esac
  for slipway_name in "SLIPWAY_JOB_ID=$slipway_job" "SLIPWAY_ATTEMPT=$slipway_attempt"; do
    case $slipway_text in *"$slipway_line$slipway_name$slipway_line"*) ;; *) continue 2 ;; esac
  done
  slipway_other=1
  for slipway_name in RANKS; do
    case $slipway_text in
      *"$slipway_line$slipway_name=$slipway_rank$slipway_line"*) slipway_other=0 ;;
    esac
  done
  slipway_begun "$slipway_at" 2>/dev/null || continue
  if [ -z "$slipway_own" ] || [ "$slipway_other" -lt "$slipway_best" ] ||
    { [ "$slipway_other" -eq "$slipway_best" ] && [ "$slipway_begun" -lt "$slipway_first" ]; }; then
    slipway_own=$slipway_at slipway_best=$slipway_other slipway_first=$slipway_begun
  fi
done
if [ -z "$slipway_own" ] || ! cd -P "$slipway_own/cwd"; then
  printf 'NOTHING\n' "$slipway_attempt" "$slipway_job" >&2
  exit CODE
fi
slipway_text=$(slipway_lines "$slipway_own" | LC_ALL=C sed -n -e '/^UID=/d' -e '/^EUID=/d' -e '/^PPID=/d' \
  -e '/^BASHOPTS=/d' -e '/^SHELLOPTS=/d' -e '/^OPTIND=/d' -e '/^IFS=/d' -e "s/'/'\\\\''/g" \
  -e "s/^\([A-Za-z_][A-Za-z0-9_]*\)=\(.*\)\$/export \1='\2'/p" | LC_ALL=C tr '\001' '\n')
for slipway_name in $(slipway_lines /proc/$$ | LC_ALL=C sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
  case $slipway_name in UID | EUID | PPID | BASHOPTS | SHELLOPTS | OPTIND | IFS | slipway_*) ;;
    *) unset "$slipway_name" ;;
  esac
done
eval "$slipway_text"
unset TERM OLDPWD
[ -z "$slipway_term" ] || export TERM="$slipway_term"
export MARK=1 PWD="$(pwd -P)"
[ $# -gt 0 ] || set -- "$(command -v bash || echo /bin/sh)"
exec "$@"
"""
SHELL = (
    SHELL.replace("MARK", _MARK)
    .replace("RANKS", _RANKS)
    .replace("NOTHING", _NOTHING.replace("{}", "%s"))
    .replace("CODE", str(NOTHING))
)


def entering(job: str, attempt: int, rank: int, words: Sequence[str], *, term: str = "") -> list[str]:
    """The words that start a command as a process of the job; without a command, a shell.

    `term`: the kind of the person's terminal; "" for none.
    """
    return ["/bin/sh", "-c", SHELL, "slipway", PYTHON, job, str(attempt), str(rank), term, *words]
