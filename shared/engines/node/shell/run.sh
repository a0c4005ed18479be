# The run: directories, preparation, the job's command, the end.

# Sets slipway_started, slipway_directories; each part of the environment that is known before the job's own.
make_environment() {
  slipway_until=$(($(date +%s) + slipway_seconds))
  SLIPWAY_HOST_0=$AZ_BATCH_NODE_ID SLIPWAY_HOSTS=$AZ_BATCH_NODE_ID SLIPWAY_RUN=$slipway_run
  export SLIPWAY_HOST_0 SLIPWAY_HOSTS SLIPWAY_RUN
  publish_all SLIPWAY_SYSTEM_
  SLIPWAY_TEMP=$AZ_BATCHAI_JOB_TEMP SLIPWAY_WORK=$AZ_BATCHAI_JOB_TEMP/wd
  export SLIPWAY_TEMP SLIPWAY_WORK
  (umask 077 && mkdir -p -- "$SLIPWAY_TEMP") && mkdir -p -- "$SLIPWAY_WORK" "$AZ_BATCHAI_JOB_MOUNT_ROOT" ||
    end 250 infrastructure "$SLIPWAY_TEMP cannot be made"
  publish_all SLIPWAY_INPUT_
  make_links
  [ -z "$slipway_resumed" ] || resume "${slipway_resumed%%"$slipway_tab"*}" "${slipway_resumed#*"$slipway_tab"}"
  make_outputs
  mkdir -p -- "$AZ_BATCHAI_SHARED_JOB_TEMP" &&
    echo "$AZ_BATCH_NODE_ID slots=$slipway_slots" >"$AZ_BATCHAI_MPI_HOST_FILE" ||
    end 250 infrastructure "$AZ_BATCHAI_SHARED_JOB_TEMP cannot be written"
}

# Publish each variable of a kind, in its order: PREFIX. Its value may use those before it, but for secrets.
publish_all() {
  slipway_index=0
  while eval "[ -n \"\${$1$slipway_index+there}\" ]"; do
    eval "slipway_pair=\$$1$slipway_index"
    unset "$1$slipway_index"
    slipway_text=${slipway_pair#*=}
    [ "$1" = SLIPWAY_SECRET_ ] || expand "$slipway_text"
    publish "${slipway_pair%%=*}" "$slipway_text"
    slipway_index=$((slipway_index + 1))
  done
}

# Show the volumes below the job's mount root; what is not there is said once there is a log.
make_links() {
  slipway_absent=''
  while IFS=$slipway_tab read -r slipway_at slipway_to; do
    [ -n "$slipway_at" ] || continue
    slipway_place=$AZ_BATCHAI_JOB_MOUNT_ROOT/$slipway_at
    if [ ! -d "$slipway_to" ]; then
      slipway_absent="There is no directory $slipway_to on $AZ_BATCH_NODE_ID"
      continue
    fi
    mkdir -p -- "${slipway_place%/*}" && ln -s -- "$slipway_to" "$slipway_place" ||
      end 250 infrastructure "$slipway_place cannot be made"
  done <<END
$slipway_links
END
}

# Copy what an earlier job saved to where this one saves, all of it or nothing, and once: FROM TO.
resume() {
  [ ! -d "$2" ] || return 0
  [ -d "$1" ] || end 251 preparation "There is nothing in $1: that job did not run here, or it is archived"
  slipway_new=$slipway_attempt/$slipway_run/saved
  mkdir -p -- "${2%/*}" && (umask 077 && mkdir -- "$slipway_new") || end 250 infrastructure "$2 cannot be made"
  slipway_text=$(cp -a -- "$1/." "$slipway_new/" 2>&1) ||
    end 251 preparation "$1 could not be copied: ${slipway_text%%"$slipway_newline"*}"
  unlock "$slipway_new"  # what that job protected from writing
  # A run of which nothing is heard any more may have been faster: not into its copy. An old BusyBox has no -T.
  mv -T -- "$slipway_new" "$2" 2>/dev/null || { [ ! -d "$2" ] && mv -- "$slipway_new" "$2"; }
  rm -rf -- "$slipway_attempt"/*/saved 2>/dev/null  # also what runs have left that were killed
  [ -d "$2" ] || end 250 infrastructure "$2 cannot be made"
}

# The output directories, that of stdout and stderr first; slipway_directories says where all nodes have them.
make_outputs() {
  slipway_index=0
  while eval "[ -n \"\${SLIPWAY_OUTPUT_$slipway_index+there}\" ]"; do
    eval "slipway_pair=\$SLIPWAY_OUTPUT_$slipway_index slipway_prefix=\$SLIPWAY_PREFIX_$slipway_index"
    unset "SLIPWAY_OUTPUT_$slipway_index" "SLIPWAY_PREFIX_$slipway_index"
    slipway_variable=${slipway_pair%% *} slipway_pair=${slipway_pair#* }
    slipway_id=${slipway_pair%% *}
    expand "${slipway_pair#* }"
    slipway_inside=$slipway_text
    expand "$slipway_prefix"
    slipway_path=${slipway_text%/}/$slipway_inside
    case $slipway_path in /*) ;; *) slipway_path=$SLIPWAY_WORK/$slipway_path ;; esac
    slipway_mode=777
    case $slipway_variable in AZ_BATCHAI_STDOUTERR_DIR | SLIPWAY_SAVED) slipway_mode=700 ;; esac
    mkdir -p -- "${slipway_path%/*}" && (umask_of "$slipway_mode" && mkdir -p -- "$slipway_path") ||
      end 250 infrastructure "$slipway_path cannot be made"
    publish "$slipway_variable" "$slipway_path"
    shared_path
    as_json "$slipway_path"
    slipway_directories="$slipway_directories${slipway_directories:+, }\"$slipway_id\": $slipway_json"
    [ "$slipway_index" != 0 ] || slipway_logs=$AZ_BATCHAI_STDOUTERR_DIR
    slipway_index=$((slipway_index + 1))
  done
}

umask_of() {
  [ "$1" = 777 ] || umask 077
}

# slipway_path as all nodes have it, after the job as well: not by way of the mounts of this run.
shared_path() {
  while IFS=$slipway_tab read -r slipway_at slipway_to; do
    case $slipway_path/ in
      "$AZ_BATCHAI_JOB_MOUNT_ROOT/$slipway_at/"*)
        slipway_path=$slipway_to${slipway_path#"$AZ_BATCHAI_JOB_MOUNT_ROOT/$slipway_at"}
        return
        ;;
    esac
  done <<END
$slipway_links
END
}

# A line in the journal, which is never waited for: TEXT. The record needs none.
log() {
  is_file "$slipway_logs/execution.log" && echo "$(stamp) $1" 2>/dev/null >>"$slipway_logs/execution.log"
}

# Whether it is a file, or can become one; a job may have put a link or a pipe there.
is_file() {
  [ -n "$slipway_logs" ] && [ ! -L "$1" ] && { [ -f "$1" ] || [ ! -e "$1" ]; }
}

# Become a process of the job: SHELL COMMAND.
become() {
  cd "$SLIPWAY_WORK" || exit
  publish_all SLIPWAY_JOB_
  publish_all SLIPWAY_SECRET_
  export SLIPWAY_COMMAND="$2"
  # No word where there is no setsid; the job may have set IFS.
  exec ${slipway_apart:+"$slipway_apart"} "$1" -c "$SLIPWAY_COMMAND"
}

# Run a command to its end; its code is slipway_code: TEXT STDOUT STDERR.
step() {
  slipway_code=0
  for slipway_file in "$2" "$3"; do
    if ! is_file "$slipway_logs/$slipway_file"; then
      slipway_displaced="$slipway_logs/$slipway_file cannot be written: something other than a file has been put there"
      slipway_code=126
      return
    fi
  done
  outside
  slipway_watcher=''
  # All that is found by PATH is found before the job's own.
  set -- "$1" "$2" "$3" "$(command -v bash || command -v sh)"
  (become "$4" "$1") </dev/null >>"$slipway_logs/$2" 2>>"$slipway_logs/$3" &
  slipway_group=$!
  (exec </dev/null >/dev/null 2>&1 && keep_watch) &
  slipway_watcher=$!
  [ -z "$slipway_asked" ] || stop
  while :; do
    wait "$slipway_group" 2>/dev/null  # some shells say there which signal killed it
    slipway_code=$?
    kill -0 "$slipway_group" 2>/dev/null || break
    heard  # a request ends the wait, too
  done
  look
  heard
  # A shell is gone at once; its child may still save.
  slipway_looks=$((slipway_watch + slipway_grace))
  while [ -n "$slipway_asked$slipway_late$slipway_moved" ] && [ "$slipway_looks" -gt 0 ] && lives; do
    slipway_looks=$((slipway_looks - 1))
    sleep 1
  done
  kill_all
  slipway_group=''
  [ -z "$slipway_killer" ] || kill "$slipway_killer" 2>/dev/null
  kill -KILL "$slipway_watcher" 2>/dev/null
  wait "$slipway_watcher" 2>/dev/null
  outside
}

# Ask the job's processes to end; what does not is killed.
stop() {
  [ -n "$slipway_group" ] && [ -z "$slipway_killer" ] || return 0
  (
    exec >/dev/null 2>&1
    look
    [ -z "$slipway_late$slipway_moved" ] || exit 0  # the watch ends them
    [ -z "$slipway_watcher" ] || kill -KILL "$slipway_watcher"
    end_all
  ) &
  slipway_killer=$!
}

# A signal has come: somebody asks for the end. It may come between any two commands: it changes little.
ask() {
  slipway_asked=yes
  stop
}

# What a signal that came during the wait asks for: the record of a request, at once, since the kill comes soon.
heard() {
  [ -n "$slipway_asked" ] || return 0
  end_record 143 terminated "$slipway_request" false
  write_record "not final"
}

# What may end the run from outside.
outside() {
  if [ -n "$slipway_moved" ]; then
    close
    exit 254
  fi
  [ -z "$slipway_asked" ] || end 143 terminated "$slipway_request" false
  [ -z "$slipway_late" ] || end 124 timeout "The wall-clock limit of $slipway_seconds s has been reached"
}

# What ends a run from outside without a signal: the clock, and another run with the claim.
look() {
  [ "$(date +%s)" -lt "$slipway_until" ] || slipway_late=yes
  ! has_turn_after "$slipway_attempt" "$slipway_own_turn" || slipway_moved=yes
}

# Look now and then, and when the time is over, and end the job's processes then. This is a process of its own: in
# some shells, a signal that ends a wait in the moment of the job's end takes the place of its exit code.
keep_watch() {
  while [ -z "$slipway_late$slipway_moved" ]; do
    slipway_pause=$((slipway_until - $(date +%s)))
    [ "$slipway_pause" -le "$slipway_watch" ] || slipway_pause=$slipway_watch
    [ "$slipway_pause" -le 0 ] || sleep "$slipway_pause"
    kill -0 $$ || exit
    look
  done
  end_all
}

# The record of an end, as slipway_record: CODE REASON MESSAGE FINAL.
end_record() {
  case $2 in
    terminated | timeout | infrastructure) slipway_shown=null ;;
    preparation) slipway_shown=1 ;;  # as the service reported it
    *) slipway_shown=$1 ;;
  esac
  as_json "$3"
  begin_record
  slipway_record="$slipway_record
  \"state\": \"ended\",
  \"reason\": \"$2\",
  \"message\": $slipway_json,
  \"final\": $4,
  \"code\": $1,
  \"exitCode\": $slipway_shown,
  \"ended\": \"$(stamp)\""
}

begin_record() {
  slipway_record="  \"started\": \"$slipway_started\",
  \"hosts\": [\"$AZ_BATCH_NODE_ID\"],
  \"directories\": {$slipway_directories},"
}

# The run is over: CODE REASON MESSAGE [false where another run of the attempt may follow].
end() {
  trap '' TERM INT
  # A node that goes down asks the commands of this program to end, too: they have not failed.
  case $2$slipway_asked in infrastructureyes) set -- 143 terminated "$slipway_request" false ;; esac
  log "$3"
  end_record "$1" "$2" "$3" "${4:-true}"
  if [ "${4:-true}" = true ]; then write_record final; else write_record "not final"; fi
  close
  exit "$1"
}

# Put away what is this run's alone.
close() {
  trap '' TERM INT
  if [ -n "$slipway_usage" ]; then
    kill -TERM "-$slipway_usage" 2>/dev/null || kill -TERM "$slipway_usage" 2>/dev/null
  fi
  if [ -n "${SLIPWAY_TEMP:-}" ]; then
    rm -rf -- "$SLIPWAY_TEMP"
    rmdir -- "${SLIPWAY_TEMP%/*}" 2>/dev/null
  fi
  announce
  leave
}

# The keys of attempts, a token and its keys on each line, as slipway_proofs. What started this program hands them
# over as an open file: its environment could be read by the job.
take_proofs() {
  slipway_proofs=${SLIPWAY_PROOFS:-} slipway_padded=''
  if [ -n "${SLIPWAY_HELD:-}" ]; then
    slipway_proofs=$(cat <&9)
    exec 9<&-
  fi
  unset SLIPWAY_PROOFS SLIPWAY_HELD
  choose_digest
}

main() {
  trap 'exit 143' TERM INT
  slipway_attempt=$SLIPWAY_RECORDS slipway_ends=$SLIPWAY_ENDS slipway_links=$SLIPWAY_LINKS
  slipway_token=$SLIPWAY_TOKEN slipway_submission=$SLIPWAY_SUBMISSION slipway_earlier=$SLIPWAY_EARLIER
  slipway_main=$SLIPWAY_MAIN slipway_preparation=$SLIPWAY_PREPARATION
  slipway_seconds=$SLIPWAY_SECONDS slipway_slots=$SLIPWAY_SLOTS slipway_grace=$SLIPWAY_GRACE
  slipway_hold=${SLIPWAY_HOLD:-0}
  unset SLIPWAY_RECORDS SLIPWAY_ENDS SLIPWAY_TOKEN SLIPWAY_SUBMISSION SLIPWAY_EARLIER SLIPWAY_HOLD
  take_proofs
  slipway_unpacked=${SLIPWAY_UNPACKED:-} slipway_resumed=${SLIPWAY_RESUMED:-}
  unset SLIPWAY_MAIN SLIPWAY_PREPARATION SLIPWAY_LINKS SLIPWAY_SECONDS SLIPWAY_SLOTS SLIPWAY_UNPACKED SLIPWAY_RESUMED
  slipway_asked='' slipway_late='' slipway_moved='' slipway_group='' slipway_killer='' slipway_watcher=''
  slipway_usage='' slipway_directories='' slipway_logs='' slipway_displaced='' slipway_apart=''
  slipway_started=$(stamp) slipway_request="The job has been asked to end"
  slipway_apart=$(command -v setsid) || slipway_apart=''
  take
  take_from "$slipway_earlier"
  if [ -n "$slipway_record" ]; then
    write_record final
    close
    exit "$slipway_code"
  fi
  trap ask TERM INT
  [ -z "${SLIPWAY_LACKING:-}" ] || end 127 unsupported "$SLIPWAY_LACKING"
  make_environment
  begin_record
  slipway_record="$slipway_record
  \"state\": \"running\",
  \"final\": false"
  write_record "not final"
  [ -z "$slipway_absent" ] || end 250 infrastructure "A node could not be made ready: $slipway_absent"
  work
}

# The code of the job is at its place before anything of it runs.
place_code() {
  slipway_text=$(SLIPWAY_UNPACKED=$slipway_unpacked sh "$SLIPWAY_PROGRAMS/place.sh" 2>&1)
  case $? in
    0) return ;;
    247) end 251 preparation "${slipway_text#hostile: }" ;;
    *) end 250 infrastructure "${slipway_text#failed: }" ;;
  esac
}

work() {
  [ -z "$slipway_unpacked" ] || place_code
  if [ -n "$slipway_preparation" ]; then
    log "Executing 'job environment preparation' on $AZ_BATCH_NODE_ID"
    step "$slipway_preparation" stdout-job_prep.txt stderr-job_prep.txt
    slipway_text="Job preparation task failed with non-zero exit code"
    [ "$slipway_code" = 0 ] || end 251 preparation "${slipway_displaced:-$slipway_text}"
  fi
  log "Starting the job on $AZ_BATCH_NODE_ID"
  if is_file "$slipway_logs/usage.jsonl"; then
    (exec ${slipway_apart:+"$slipway_apart"} sh "$SLIPWAY_PROGRAMS/usage.sh" "$$") </dev/null >>"$slipway_logs/usage.jsonl" 2>/dev/null &
    slipway_usage=$!
  fi
  step "$slipway_main" stdout.txt stderr.txt
  [ -z "$slipway_displaced" ] || end 126 user "$slipway_displaced"
  [ "$slipway_code" != 0 ] || end 0 "" "All processes ended with exit code 0"
  slipway_text="Job failed with non-zero exit code"
  [ "$slipway_code" != 137 ] ||
    slipway_text="$slipway_text: killed (signal 9), usually because it used more memory than there is"
  hold "$slipway_code" "$slipway_text"
  end "$slipway_code" user "$slipway_text"
}

main
