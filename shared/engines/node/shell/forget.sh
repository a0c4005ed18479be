# Removes what attempts have left on the file system that pods share: as `forget.py`. SLIPWAY_FORGET has a
# directory, a token, and the directory of what the job saved, on each line.

# Remove a directory with those in it that a job protected from writing: DIRECTORY. No link is followed.
remove() {
  rm -rf -- "$1" 2>/dev/null && return
  [ -L "$1" ] || chmod -R u+rwx -- "$1"
  rm -rf -- "$1"
}

main() {
  slipway_code=0 slipway_keys=''
  while IFS=$slipway_tab read -r slipway_attempt slipway_token slipway_saved; do
    [ -n "$slipway_attempt" ] || continue
    read_turn "$slipway_attempt/claim.json"
    if [ "${turn_token:-$slipway_token}" = "$slipway_token" ]; then
      # In this order: as long as the attempt is there, both are asked for again.
      remove "$slipway_saved" && remove "$slipway_attempt" || slipway_code=1
    fi
    [ -z "$SLIPWAY_ENDS" ] || rm -rf -- "$SLIPWAY_ENDS/$slipway_token"
  done <<END
$SLIPWAY_FORGET
END
  exit "$slipway_code"
}

main
