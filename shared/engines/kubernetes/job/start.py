"""The first process of each pod: a shell script, the same for every job. Pure.

The first rank runs the program of the nodes. The others start an agent, by which the first starts processes
there, and stay until the Job ends.
"""

from __future__ import annotations

#: The script's name among the programs.
START = "start.sh"

SCRIPT = """\
# The first process of a pod. SLIPWAY_HOME is the pod's own, SLIPWAY_PROGRAMS holds the programs.
set -eu
cd "$SLIPWAY_HOME"
export AZ_BATCH_NODE_ID="$HOSTNAME" AZ_BATCH_TASK_WORKING_DIR="$SLIPWAY_HOME"
# An agent announces the address by which the others reach it.
export AZ_BATCH_MASTER_NODE="${SLIPWAY_ADDRESS:-}"
export OMPI_MCA_plm_rsh_agent="python3 $SLIPWAY_PROGRAMS/spread.py rsh"
export PRTE_MCA_plm_ssh_agent="$OMPI_MCA_plm_rsh_agent"
if [ "$SLIPWAY_NODES" -gt 1 ]; then
  env -u SLIPWAY_PLAN python3 "$SLIPWAY_PROGRAMS/spread.py" serve
fi
if [ "${JOB_COMPLETION_INDEX:-0}" = 0 ]; then
  exec python3 "$SLIPWAY_PROGRAMS/run.py"
fi
# No success: a rank that is sent away has not done its part.
trap 'exit 143' TERM
while :; do
  sleep 3600 &
  wait $!
done
"""
