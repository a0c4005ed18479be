# All that came of a step: its session, as in `families.py`. A shell ends at once while its child still saves.

# The processes of the step that live, as slipway_living, and their groups: those of its session.
look_around() {
  slipway_living='' slipway_groups=''
  for slipway_file in /proc/[0-9]*/stat; do
    read -r slipway_line 2>/dev/null <"$slipway_file" || continue
    slipway_number=${slipway_line%% *} slipway_line=${slipway_line##*) }
    case $slipway_line in [ZX]*) continue ;; esac
    # state parent group session
    slipway_line=${slipway_line#* * } slipway_of=${slipway_line%% *} slipway_line=${slipway_line#* }
    [ "${slipway_line%% *}" = "$slipway_group" ] || continue
    slipway_living="$slipway_living $slipway_number"
    case "$slipway_groups " in *" $slipway_of "*) ;; *) slipway_groups="$slipway_groups $slipway_of" ;; esac
  done
}

# Whether one of them lives.
lives() {
  look_around 2>/dev/null
  [ -n "$slipway_living" ]
}

# Ask its group, and the others of its session when that is gone: each once, since a second signal could end a
# process while it saves.
ask_all() {
  look_around
  case "$slipway_groups " in *" $slipway_group "*) slipway_groups=$slipway_group ;; esac
  for slipway_of in ${slipway_groups:-$slipway_group}; do
    case "$slipway_told " in *" $slipway_of "*) continue ;; esac
    slipway_told="$slipway_told $slipway_of"
    kill -TERM "-$slipway_of" || kill -TERM "$slipway_of"
  done
}

# Ask them, and kill what is left after the grace.
end_all() {
  slipway_told='' slipway_over=$(($(date +%s) + slipway_grace))
  while [ "$(date +%s)" -lt "$slipway_over" ]; do
    ask_all
    sleep 1
  done
  kill_all
}

kill_all() {
  kill -KILL "-$slipway_group" || kill -KILL "$slipway_group"
  look_around
  for slipway_number in $slipway_living; do kill -KILL "$slipway_number"; done
} 2>/dev/null
