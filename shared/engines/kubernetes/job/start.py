"""The first process of each pod: a shell script, the same for every job. Pure.

A shell program runs one command on one node: such an image needs neither Python nor bash. In other jobs the
first rank runs the program in Python. The others start an agent, by which the first starts processes there,
and stay until the Job ends.
"""

from __future__ import annotations

#: Names among the programs: of this script, and of those in shell.
START, ALONE, USAGE, FORGET = "start.sh", "alone.sh", "usage.sh", "forget.sh"

SCRIPT = """\
# The first process of a pod. SLIPWAY_HOME is the pod's own, SLIPWAY_PROGRAMS holds the programs.
set -eu
# With which variables a process began can be read for as long as it runs.
if [ "${JOB_COMPLETION_INDEX:-0}" != 0 ] && [ -n "${SLIPWAY_PROOFS:-}" ]; then
  unset SLIPWAY_PROOFS
  export SLIPWAY_PLAN="${SLIPWAY_PLAN:+of the first rank}"
  exec /bin/sh "$0"
fi
# The first process of a container gets only the signals that it handles.
trap 'exit 143' TERM
cd "$SLIPWAY_HOME"
export AZ_BATCH_NODE_ID="$HOSTNAME" AZ_BATCH_TASK_WORKING_DIR="$SLIPWAY_HOME"
# An agent announces the address by which the others reach it.
export AZ_BATCH_MASTER_NODE="${SLIPWAY_ADDRESS:-}"
export OMPI_MCA_plm_rsh_agent="python3 -I $SLIPWAY_PROGRAMS/spread.py rsh"
export PRTE_MCA_plm_ssh_agent="$OMPI_MCA_plm_rsh_agent"
alone() {
  if [ -n "${SLIPWAY_PROOFS:-}" ]; then
    exec 9<<END
$SLIPWAY_PROOFS
END
    unset SLIPWAY_PROOFS
    export SLIPWAY_HELD=9
  fi
  exec /bin/sh "$SLIPWAY_PROGRAMS/alone.sh"
}
# Whether the agent lives; the number may be that of one that has ended and is not reaped.
still() {
  read -r line <"/proc/${agent:-0}/stat" || return
  case $line in *") Z "*) return 1 ;; esac
} 2>/dev/null
# A rank that is evicted has not done its part. What runs here may save first.
leave() {
  trap '' TERM
  kill -TERM "${agent:-}" 2>/dev/null || :
  while still; do sleep 1; done
  exit 143
}
if [ -z "${SLIPWAY_PLAN:-}" ]; then
  alone
fi
lacking=
for name in bash python3; do
  command -v "$name" >/dev/null || lacking=$name
done
if [ -n "$lacking" ]; then
  need="jobs on several nodes, and toolkits, need python3 and bash; a command line on one node needs neither"
  export SLIPWAY_LACKING="There is no $lacking in the image: $need"
  echo "$SLIPWAY_LACKING" >&2
  # The first rank says so in its record, which needs its time; the others wait for that.
  if [ "${JOB_COMPLETION_INDEX:-0}" = 0 ]; then
    unset SLIPWAY_PLAN
    alone
  fi
elif [ "$SLIPWAY_NODES" -gt 1 ]; then
  trap leave TERM
  agent=$(env -u SLIPWAY_PLAN -u SLIPWAY_PROOFS python3 -I "$SLIPWAY_PROGRAMS/spread.py" serve)
fi
if [ "${JOB_COMPLETION_INDEX:-0}" = 0 ]; then
  unset SLIPWAY_PROOFS
  exec python3 -I "$SLIPWAY_PROGRAMS/run.py"
fi
while :; do
  sleep 3600 &
  wait $!
done
"""
