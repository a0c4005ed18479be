# Puts the code of a job, which the first container of its pod has unpacked at SLIPWAY_UNPACKED, at SLIPWAY_CODE.
# It never goes into a volume of the job, by way of a link above that place.

# Move a folder to where folders for the job's output may be: FOLDER PLACE.
put() {
  if [ ! -e "$2" ] && [ ! -L "$2" ]; then
    mv -- "$1" "$2"
    return
  fi
  if [ ! -d "$1" ] || [ ! -d "$2" ] || [ -L "$1" ] || [ -L "$2" ]; then
    echo "hostile: $2 is there already, where its code belongs" >&2
    exit 247
  fi
  for slipway_path in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    [ -e "$slipway_path" ] || [ -L "$slipway_path" ] || continue
    (put "$slipway_path" "$2/${slipway_path##*/}") || exit
  done
}

slipway_mark=$SLIPWAY_TEMP/code.in-place slipway_above=${SLIPWAY_CODE%/*}
mkdir -p -- "$slipway_above" || exit 248
slipway_real=$(cd -- "$slipway_above" && pwd -P) && slipway_temp=$(cd -- "$SLIPWAY_TEMP" && pwd -P) || exit 248
if [ "$slipway_real" != "$slipway_temp${slipway_above#"$SLIPWAY_TEMP"}" ]; then
  echo "hostile: $SLIPWAY_CODE is in a volume of the job, where no code belongs" >&2
  exit 247
fi
if ! mkdir -- "$slipway_mark" 2>/dev/null; then
  # Another pod of the job has the same directory, and puts it there; if it cannot, the run ends all of them.
  until [ -e "$slipway_mark/done" ]; do sleep 1; done
  exit
fi
if [ -d "$SLIPWAY_UNPACKED" ]; then
  rmdir -- "$SLIPWAY_CODE" 2>/dev/null
  put "$SLIPWAY_UNPACKED" "$SLIPWAY_CODE" && rm -rf -- "$SLIPWAY_UNPACKED" && : >"$slipway_mark/done" && exit
fi
echo "failed: its code could not be put at $SLIPWAY_CODE" >&2
exit 248
