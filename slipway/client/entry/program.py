"""What runs on a node before the words of a person: it becomes a process of the job.

Only the job's own processes have its id in their environment. The oldest of them, or the oldest of the wanted
rank, lends its environment and its directory, so the values are the true ones, and nothing is stored on the
node. The kernel shows them to the same user only. What was entered has a mark, and is not taken for the job.
Where srun starts it, only processes of the same job of the cluster count: by its cgroup, or below the program
of root that runs it (`…stepd: [4711.batch]`).

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
import os, re, shutil, signal, sys
job, attempt, rank, term, *words = sys.argv[1:]
mark = {{b"SLIPWAY_JOB_ID": job.encode(), b"SLIPWAY_ATTEMPT": attempt.encode()}}
def read(pid, name):
    with open("/proc/%s/%s" % (pid, name), "rb") as file:
        return file.read()
def is_marked(env):
    return mark.items() <= env.items() and b"{_MARK}" not in env
def scope(pid):
    return re.findall(rb"/job_([0-9]+)", read(pid, "cgroup"))[:1] or step(pid)
def step(pid):
    try:
        while int(pid) > 1:
            title = re.match(rb"[a-z]+stepd: \\[([0-9]+)[.]", read(pid, "cmdline"))
            if title and re.search(rb"\\nUid:\\s+0\\s", read(pid, "status")):
                return [title[1]]
            pid = read(pid, "stat").rpartition(b")")[2].split()[1].decode()
    except OSError:
        pass
    return []
own, inside = {{}}, scope(str(os.getpid()))
for pid in filter(str.isdecimal, os.listdir("/proc")):
    try:
        pairs = [one.partition(b"=") for one in read(pid, "environ").split(b"\\0")]
        env = {{name: value for name, _, value in pairs if name}}
        if is_marked(env) and inside in ([], scope(pid)):
            fields = read(pid, "stat").rpartition(b")")[2].split()
            own[pid] = (int(fields[19]), fields[1].decode(), env)
    except OSError:
        pass
env = dict(os.environb)
if not is_marked(env):
    if not own:
        sys.stderr.write("{_NOTHING}\\n".format(attempt, job))
        sys.exit({NOTHING})
    def age(pid):
        return own[pid][0], int(pid)
    first = min(own, key=age)
    def is_below(pid):
        while pid in own and pid != first:
            pid = own[pid][1]
        return pid == first
    def above(pid):
        try:
            return read(own[pid][1], "comm")
        except OSError:
            return b""
    def is_of_rank(pid):
        _, parent, env = own[pid]
        ranks = [env.get(name.encode()) for name in "{_RANKS}".split()]
        return rank.encode() in ranks and (above(pid) == above(first) and parent != "1" or is_below(pid))
    pid = min(filter(is_of_rank, own), key=age, default=first)
    env = own[pid][2]
    try:
        os.chdir("/proc/%s/cwd" % pid)
    except OSError as error:
        sys.stderr.write("slipway: the directory of the job: %s\\n" % error.strerror)
        sys.exit({NOTHING})
for name in (b"TERM", b"PWD", b"OLDPWD"):
    env.pop(name, None)
try:
    os.getcwd()
except OSError:
    sys.stderr.write("slipway: the directory of the job is gone, this is /\\n")
    os.chdir("/")
env[b"PWD"] = os.getcwdb()
env[b"{_MARK}"] = b"1"
if term:
    env[b"TERM"] = term.encode()
path = env.get(b"PATH", os.defpath.encode()).decode(errors="surrogateescape")
words = words or [shutil.which("bash", path=path) or "/bin/sh"]
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
try:
    os.execvpe(words[0], words, env)
except (OSError, ValueError) as error:
    sys.stderr.write("slipway: %r: %s\\n" % (words[0], getattr(error, "strerror", None) or error))
    sys.exit(126 if isinstance(error, PermissionError) else 127)
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
slipway_scope() {
  slipway_text=$(LC_ALL=C sed -n '/\/job_[0-9]/{s,.*/job_\([0-9][0-9]*\).*,\1,p;q;}' "/proc/$1/cgroup")
  slipway_parent=$1
  while [ -z "$slipway_text" ] && [ "$slipway_parent" -gt 1 ]; do
    case $(LC_ALL=C sed -n '/^Uid:[^0-9]*0[^0-9]/p' "/proc/$slipway_parent/status") in
      Uid:*) slipway_step=$(LC_ALL=C tr '\000' '\n' <"/proc/$slipway_parent/cmdline" |
        LC_ALL=C sed -n '1s/^[a-z]*stepd: \[\([0-9][0-9]*\)[.].*/\1/p') ;;
      *) slipway_step= ;;
    esac
    slipway_stat "/proc/$slipway_parent" || return
    slipway_text=$slipway_step
  done
  echo "$slipway_text"
}
slipway_stat() {
  read -r slipway_text <"$1/stat" || return
  set -- ${slipway_text##*) }
  slipway_parent=$2
  shift 19
  slipway_begun=$1
}
slipway_marked() {
  slipway_text=$slipway_line$(slipway_lines "$1" 2>/dev/null)$slipway_line
  case $slipway_text in *"${slipway_line}MARK="*) return 1 ;; esac
  for slipway_name in "SLIPWAY_JOB_ID=$slipway_job" "SLIPWAY_ATTEMPT=$slipway_attempt"; do
    case $slipway_text in *"$slipway_line$slipway_name$slipway_line"*) ;; *) return 1 ;; esac
  done
}
slipway_of_rank() {
  for slipway_name in RANKS; do
    case $slipway_text in *"$slipway_line$slipway_name=$slipway_rank$slipway_line"*) return 0 ;; esac
  done
  return 1
}
slipway_below() {
  slipway_text=
  read -r slipway_text <"/proc/$slipway_parent/comm" || :
  [ "$slipway_text" != "$slipway_above" ] || [ "$slipway_parent" -le 1 ] || return 0
  while [ "$slipway_parent" -gt 1 ]; do
    [ "/proc/$slipway_parent" != "$slipway_own" ] || return 0
    slipway_stat "/proc/$slipway_parent" 2>/dev/null || return 1
  done
  return 1
}
slipway_inside=$(slipway_scope $$ 2>/dev/null) slipway_own= slipway_all=
for slipway_at in /proc/[0-9]*; do
  [ -r "$slipway_at/environ" ] || continue
  slipway_marked "$slipway_at" || continue
  [ -z "$slipway_inside" ] ||
    [ "$(slipway_scope "${slipway_at#/proc/}" 2>/dev/null)" = "$slipway_inside" ] || continue
  slipway_stat "$slipway_at" 2>/dev/null || continue
  slipway_all="$slipway_all $slipway_at"
  if [ -z "$slipway_own" ] || [ "$slipway_begun" -lt "$slipway_first" ]; then
    slipway_own=$slipway_at slipway_first=$slipway_begun slipway_over=$slipway_parent
  fi
done
slipway_above=-
[ -z "$slipway_own" ] || read -r slipway_above <"/proc/$slipway_over/comm" || :
slipway_chosen=$slipway_own slipway_first=
for slipway_at in $slipway_all; do
  slipway_marked "$slipway_at" && slipway_of_rank && slipway_stat "$slipway_at" 2>/dev/null || continue
  slipway_age=$slipway_begun
  [ -z "$slipway_first" ] || [ "$slipway_age" -lt "$slipway_first" ] || continue
  if slipway_below 2>/dev/null; then
    slipway_chosen=$slipway_at slipway_first=$slipway_age
  fi
done
if [ -z "$slipway_chosen" ]; then
  printf 'NOTHING\n' "$slipway_attempt" "$slipway_job" >&2
  exit CODE
fi
cd -P "$slipway_chosen/cwd" 2>/dev/null
slipway_place=$(pwd -P 2>/dev/null)
if [ ! -d "$slipway_place" ]; then
  echo "slipway: the directory of the job is gone, this is /" >&2
  cd /
fi
slipway_text=$(slipway_lines "$slipway_chosen" | LC_ALL=C sed -n \
  -e '/^OPTIND=/d' -e '/^IFS=/d' -e '/^UID=/d' -e '/^EUID=/d' -e '/^PPID=/d' -e '/^BASH_VERSINFO=/d' \
  -e '/^BASHOPTS=/d' -e '/^SHELLOPTS=/d' \
  -e "s/'/'\\\\''/g" -e "s/^\([A-Za-z_][A-Za-z0-9_]*\)=\(.*\)\$/command export \1='\2' 2>\/dev\/null/p" |
  LC_ALL=C tr '\001' '\n')
for slipway_name in $(slipway_lines /proc/$$ | LC_ALL=C sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
  case $slipway_name in OPTIND | IFS | slipway_*) ;; *) command unset "$slipway_name" 2>/dev/null ;; esac
done
set -- "$slipway_term" "$@"
eval "$slipway_text"
unset TERM OLDPWD
[ -n "${PATH+there}" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ -z "$1" ] || export TERM="$1"
shift
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
