# Who may run the attempt, and the records of its runs: as in `claim.py`, in the same files.

# Give the user all rights to a directory, which a job may have taken away: DIRECTORY...
unlock() {
  for slipway_shut in "$@"; do
    [ ! -e "$slipway_shut" ] || { [ -r "$slipway_shut" ] && [ -w "$slipway_shut" ] && [ -x "$slipway_shut" ]; } ||
      chmod u+rwx -- "$slipway_shut" 2>/dev/null
  done
}

# Write a file whole or not at all, for its user alone: PATH TEXT. A network file system has it when it is closed.
put() {
  unlock "${1%/*}"
  sign "$1" "$2"
  new_file "$1" "$slipway_signed" && mv -f -- "$slipway_new" "$1"
}

# The same, where it is not there yet; a link is made once on every network file system. What is there already
# may be our own, of which the answer was lost.
add() {
  sign "$1" "$2"
  new_file "$1" "$slipway_signed" || return
  slipway_trouble=''
  # In a directory of that name, the link would be made within it.
  if [ ! -d "$1" ] && slipway_trouble=$(LC_ALL=C ln -- "$slipway_new" "$1" 2>&1); then
    rm -f -- "$slipway_new"
    return
  fi
  rm -f -- "$slipway_new"
  text_of "$1"
  [ "$slipway_content" != "$slipway_signed" ] || return 0
  case $slipway_trouble in
    *"ot supported" | *"ot permitted" | *"ot implemented")
      unready "The volume of $1 has no hard links, as over SMB. Jobs need NFS for \`shared\`, such as Azure Files by NFS"
      ;;
  esac
  return 1
}

new_file() {
  slipway_new=$1.$AZ_BATCH_NODE_ID.$$
  rm -f -- "$slipway_new" && (umask 077 && printf '%s\n' "$2" >"$slipway_new")
}

# Whether a directory has that entry: DIRECTORY NAME. To list it asks the server of a network file system.
has_entry() {
  for slipway_file in "$1"/*; do
    [ "${slipway_file##*/}" = "$2" ] && return
  done
  return 1
}

# The number of the last turn of an attempt as slipway_last, 0 before the first, and what it says: ATTEMPT. What
# bears a turn's name without its proof is none.
last_turn() {
  slipway_bound=1000000000
  while :; do
    slipway_last=0
    for slipway_file in "$1"/turns/*; do
      slipway_number=${slipway_file##*/}
      case $slipway_number in '' | 0* | *[!0-9]* | ??????????*) continue ;; esac
      [ "$slipway_number" -ge "$slipway_bound" ] || [ "$slipway_number" -le "$slipway_last" ] ||
        slipway_last=$slipway_number
    done
    read_turn "$1/turns/$slipway_last"
    [ -z "$slipway_unsure" ] || unready "$slipway_digest does not work"
    [ "$slipway_last" != 0 ] && [ -z "$turn_token" ] || return 0
    [ -n "$slipway_keys" ] || unready "turn $slipway_last of $1 cannot be read"  # it may be an end
    slipway_bound=$slipway_last
  done
}

# Write the turn that follows the one of that number, as slipway_added; fails if there is one: ATTEMPT NUMBER TEXT.
add_turn() {
  unlock "$1" "$1/turns"
  slipway_added=$2
  while :; do
    slipway_added=$((slipway_added + 1))
    ! add "$1/turns/$slipway_added" "$3" || return 0
    [ -n "$slipway_keys" ] && has_entry "$1/turns" "$slipway_added" || return 1
    load "$1/turns/$slipway_added"
    [ -z "$slipway_content" ] || return 1
  done
}

# Whether a turn follows the one of that number: ATTEMPT NUMBER.
has_turn_after() {
  unlock "$1" "$1/turns"
  for slipway_file in "$1"/turns/*; do
    slipway_number=${slipway_file##*/}
    case $slipway_number in '' | 0* | *[!0-9]* | ??????????*) continue ;; esac
    [ "$slipway_number" -gt "$2" ] || continue
    load "$slipway_file"
    [ -z "$slipway_content" ] && [ -n "$slipway_keys" ] || return 0
  done
  return 1
}

# What a turn says, as turn_…; nothing of one that is not there.
read_turn() {
  turn_token='' turn_submission='' turn_run='' turn_taken='' turn_ended='' turn_code=0 turn_reason='' turn_name=''
  load "$1"
  while IFS= read -r slipway_line || [ -n "$slipway_line" ]; do
    slipway_value=${slipway_line#*: } slipway_value=${slipway_value%,}
    slipway_value=${slipway_value#\"} slipway_value=${slipway_value%\"}
    case $slipway_line in
      ' "token": '*) turn_token=$slipway_value ;;
      ' "submission": '*) turn_submission=$slipway_value ;;
      ' "run": '*) turn_run=$slipway_value ;;
      ' "taken": '*) turn_taken=yes ;;
      ' "ended": '*) turn_ended=yes ;;
      '  "code": '*) turn_code=$slipway_value ;;
      '  "reason": '*) turn_reason=$slipway_value ;;
      '  "run": '*) turn_run=$slipway_value ;;
      '  "answers": '*) turn_name=yes ;;
    esac
  done <<END
$slipway_content
END
}

# Claim the attempt, or take it over from an earlier run of the same submission. Exits where it must not run.
take() {
  use_keys "$slipway_token" "$slipway_attempt"
  (umask 077 && mkdir -p -- "$slipway_attempt/turns") || unready "$slipway_attempt cannot be made"
  slipway_run=$SLIPWAY_POD slipway_number=1
  until (umask 077 && mkdir -- "$slipway_attempt/$slipway_run") 2>/dev/null; do
    [ -d "$slipway_attempt/$slipway_run" ] || unready "$slipway_attempt cannot be written"
    slipway_number=$((slipway_number + 1))
    slipway_run=$SLIPWAY_POD-$slipway_number
  done
  slipway_mine="{
 \"token\": \"$slipway_token\",
 \"submission\": \"$slipway_submission\",
 \"run\": \"$slipway_run\"
}"
  slipway_before=-1
  while :; do
    last_turn "$slipway_attempt"
    [ "$slipway_last" != "$slipway_before" ] || unready "$slipway_attempt/turns cannot be written"
    may_follow
    ! add_turn "$slipway_attempt" "$slipway_last" "$slipway_mine" || break
    slipway_before=$slipway_last
  done
  slipway_own_turn=$slipway_added
  put "$slipway_attempt/claim.json" "$slipway_mine"
  [ -z "$turn_run" ] || wait_until_left "$slipway_attempt/$turn_run"
}

# Exits where this run may not be the next one: another job's name, an end, one that lost it, another submission.
may_follow() {
  [ -n "$turn_token" ] || return 0
  slipway_why=
  [ "$turn_submission" = "$slipway_submission" ] || slipway_why=253
  [ -z "$turn_taken" ] || slipway_why=254
  [ -z "$turn_ended" ] || slipway_why=$turn_code
  [ "$turn_token" = "$slipway_token" ] || slipway_why=252
  [ -n "$slipway_why" ] || return 0
  rmdir -- "$slipway_attempt/$slipway_run"
  exit "$slipway_why"
}

# Take the job from its earlier attempts, the newest first: a name, a token and why the ledger has it ended on
# each line. One that came to an end which the ledger does not know answers for this one, as slipway_record.
take_from() {
  slipway_record=''
  slipway_runs=''
  while IFS=$slipway_tab read -r slipway_their_name slipway_their_token slipway_their_reason; do
    [ -n "$slipway_their_name" ] || continue
    slipway_theirs=${slipway_attempt%/*}/$slipway_their_name
    use_keys "$slipway_their_token" "$slipway_theirs"
    take_away
    if [ -z "$turn_ended" ]; then
      [ -z "$turn_run" ] || slipway_runs="$slipway_runs$slipway_theirs/$turn_run
"
    elif [ -n "$slipway_their_reason" ] && [ "$turn_reason" != "$slipway_their_reason" ]; then
      copy_record
      break
    else
      break  # it has done the same with those before it
    fi
  done <<END
$1
END
  use_keys "$slipway_token" "$slipway_attempt"
  [ -z "$slipway_record" ] || return 0
  while IFS= read -r slipway_theirs; do
    [ -z "$slipway_theirs" ] || wait_until_left "$slipway_theirs"
  done <<END
$slipway_runs
END
}

# The last turn of an earlier attempt before it was taken away; its end stands.
take_away() {
  while :; do
    last_turn "$slipway_theirs"
    if [ -n "$turn_token" ] && [ "$turn_token" != "$slipway_their_token" ]; then
      turn_run='' turn_ended=''  # another job's, which has nothing to do with this one
      return
    fi
    [ -z "$turn_ended$turn_taken" ] || return 0
    slipway_head="{
 \"token\": \"$slipway_their_token\",
 \"submission\": \"\","
    (umask 077 && mkdir -p -- "$slipway_theirs/turns") || unready "$slipway_theirs cannot be made"
    if add_turn "$slipway_theirs" "$slipway_last" "$slipway_head
 \"run\": \"$turn_run\",
 \"taken\": \"${slipway_attempt##*/}\"
}"; then
      put "$slipway_theirs/claim.json" "$slipway_head
 \"run\": \"\"
}"
      return
    fi
    has_entry "$slipway_theirs/turns" "$((slipway_last + 1))" || unready "$slipway_theirs cannot be written"
  done
}

# The record in the turn of an end that was just read, as slipway_record, without what says whose it is.
copy_record() {
  slipway_inside=''
  while IFS= read -r slipway_line || [ -n "$slipway_line" ]; do
    case $slipway_line in
      ' "ended": '*) slipway_inside=yes && continue ;;
      ' }'*) slipway_inside='' ;;
      '  "version": '* | '  "token": '* | '  "run": '*) continue ;;
    esac
    [ -n "$slipway_inside" ] || continue
    slipway_record="$slipway_record$slipway_line
"
  done <<END
$slipway_content
END
  slipway_record="${slipway_record%?}"
  [ -n "$turn_name" ] || slipway_record="${slipway_record%,},
  \"answers\": {\"name\": \"$slipway_their_name\", \"run\": \"$turn_run\"}"
  slipway_code=$turn_code
}

# Until nothing is left of a run that has lost its claim, or long enough that it has seen that.
wait_until_left() {
  slipway_looks=$((2 * slipway_watch + slipway_grace))
  while [ "$slipway_looks" -gt 0 ] && [ -d "$1" ] && ! has_entry "$1" left; do
    slipway_looks=$((slipway_looks - 1))
    sleep 1
  done
}

# Write slipway_record as that of this run; `final`: only while it still has the attempt, or this run is silent.
write_record() {
  slipway_whole="${slipway_record%,},
  \"version\": 1,
  \"token\": \"$slipway_token\",
  \"run\": \"$slipway_run\""
  if [ "$1" = final ]; then
    add_turn "$slipway_attempt" "$slipway_own_turn" "{
 \"token\": \"$slipway_token\",
 \"ended\": {
$slipway_whole
 }
}" || silent
  fi
  put "$slipway_attempt/$slipway_run/result.json" "{
$slipway_whole
}"
}

# Another run has taken over: this one says nothing more.
silent() {
  leave
  exit 254
}

# Nothing of this run is left: what follows needs not wait. It only saves time.
leave() {
  put "$slipway_attempt/$slipway_run/left" "{}" 2>/dev/null
}

# Copy the record to where a new file is noticed. It only saves time.
announce() {
  [ -n "$slipway_ends" ] || return 0
  (umask 077 && mkdir -p -- "$slipway_ends/$slipway_token") 2>/dev/null &&
    new_file "$slipway_ends/$slipway_token/result.json" "$(cat -- "$slipway_attempt/$slipway_run/result.json")" \
      2>/dev/null && mv -f -- "$slipway_new" "$slipway_ends/$slipway_token/result.json"
}

# The place where claims are cannot be used: nothing can be said but on the pod's own log.
unready() {
  echo "$1" >&2
  slipway_trouble=$(LC_ALL=C dd if=/dev/zero "of=$slipway_attempt/room" bs=512 count=1 2>&1)
  rm -f -- "$slipway_attempt/room"
  case $slipway_trouble in *"o space left"* | *"uota exceeded"*) exit 242 ;; esac
  exit 250
}
