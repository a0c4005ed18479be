# Keeps the node of a job that failed by its author's fault, as in `held/hold.py`.

# Keep it, and end then: CODE TEXT. How the run ended is recorded before, and nothing changes that.
hold() {
  slipway_kept=$(($(date +%s) + slipway_hold))
  [ "$slipway_kept" -le "$slipway_until" ] || slipway_kept=$slipway_until
  slipway_release=$(date -u -d "@$slipway_kept" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
  if [ "$slipway_hold" = 0 ] || [ -n "$slipway_asked" ] || [ -z "$slipway_release" ]; then return; fi
  log "$2"
  log "exit code $1; kept until $slipway_release"
  end_record "$1" user "$2" true
  slipway_record="$slipway_record,
  \"held\": {\"until\": \"$slipway_release\"}"
  write_record final
  announce
  mkdir -p "$SLIPWAY_WORK" 2>/dev/null
  become "$(command -v bash || command -v sh)" "set -- $((slipway_hold / 2 + 1)); $slipway_holding" </dev/null >/dev/null 2>&1 &
  slipway_group=$!
  while [ -z "$slipway_asked" ] && [ "$(date +%s)" -lt "$slipway_kept" ] && [ ! -f "$SLIPWAY_TEMP/release" ]; do
    sleep 1
  done
  kill_all
  close
  exit "$1"
}
