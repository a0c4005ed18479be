# The proof that an object was written by this program, not by a job: as in `proof.py`, for the same objects.
#
# slipway_keys are the keys of the attempt whose objects are below slipway_place.

# The keys of an attempt, as slipway_keys, for objects below a directory: TOKEN DIRECTORY.
use_keys() {
  slipway_keys='' slipway_place=$2
  unlock "$2" "$2/turns"
  while IFS=' ' read -r slipway_whose slipway_rest; do
    [ "$slipway_whose" != "$1" ] || slipway_keys=$slipway_rest
  done <<END
$slipway_proofs
END
}

# The text with its proof, as slipway_signed: PATH TEXT. Without a key, and for an empty object, the text itself.
sign() {
  slipway_signed=$2
  [ -n "$slipway_keys" ] && [ "$2" != "{}" ] || return 0
  slipway_codes=''
  for slipway_key in $slipway_keys; do
    code "$1" "$slipway_key" "${2#??}" || unready "$slipway_digest does not work"
    slipway_codes="$slipway_codes${slipway_codes:+ }$slipway_code_of"
  done
  slipway_signed="{
 \"proof\": \"$slipway_codes\",
${2#??}"
}

# The text of a file, as slipway_content, up to a size that none of ours has; nothing of a link or a pipe: PATH.
text_of() {
  slipway_content=''
  [ -L "$1" ] || [ ! -f "$1" ] || {
    [ -r "$1" ] || chmod u+rw -- "$1" 2>/dev/null
    slipway_content=$(dd bs=65536 count=16 2>/dev/null <"$1")
  }
}

# What a file says, as slipway_content, without its proof; nothing of what lacks one, or is not there: PATH. Where
# a proof cannot be computed now, slipway_unsure says so.
load() {
  slipway_unsure=''
  text_of "$1"
  [ -n "$slipway_keys" ] || return 0
  slipway_lines=${slipway_content#??} slipway_content=''
  slipway_codes=${slipway_lines%%"$slipway_newline"*} slipway_lines=${slipway_lines#*"$slipway_newline"}
  case $slipway_codes in ' "proof": "'*'",') ;; *) return 0 ;; esac
  slipway_codes=${slipway_codes#' "proof": "'}
  for slipway_key in $slipway_keys; do
    code "$1" "$slipway_key" "$slipway_lines" || { slipway_unsure=yes && continue; }
    case " ${slipway_codes%'",'} " in *" $slipway_code_of "*) slipway_content="{
$slipway_lines" ;; esac
  done
}

# The program for SHA-256, as slipway_digest. Without one no proof can be tried: nothing may run, since a record
# of another run, forged or not, could say that it must not.
choose_digest() {
  slipway_digest=sha256sum
  command -v sha256sum >/dev/null || slipway_digest="openssl dgst -sha256 -r"
  [ -z "$slipway_proofs" ] || command -v "${slipway_digest%% *}" >/dev/null || {
    echo "There is neither sha256sum nor openssl in the image: one of them proves the records of the job" >&2
    exit 243
  }
}

# HMAC-SHA256 of an object's name and lines, as slipway_code_of: PATH KEY LINES. Fails where the program does.
# shellcheck disable=SC2086  # the program has options
code() {
  [ "$2" = "$slipway_padded" ] || pad "$2"
  slipway_code_of=$({ printf "$slipway_inner" && printf '%s\n%s\n' "${1#"$slipway_place/"}" "$3"; } | $slipway_digest)
  as_bytes 0 "${slipway_code_of%% *}"
  slipway_code_of=$(printf "$slipway_outer$slipway_bytes" | $slipway_digest)
  slipway_code_of=${slipway_code_of%% *}
  case $slipway_code_of in *[!0-9a-f]*) return 1 ;; esac
  [ "${#slipway_code_of}" = 64 ]
}

# The two blocks that HMAC begins with, for a key of 32 bytes.
pad() {
  slipway_padded=$1 slipway_zeros=0000000000000000000000000000000000000000000000000000000000000000
  as_bytes 54 "$1$slipway_zeros"  # 0x36
  slipway_inner=$slipway_bytes
  as_bytes 92 "$1$slipway_zeros"  # 0x5c
  slipway_outer=$slipway_bytes
}

# The bytes of a hexadecimal text, each with some of its bits turned, in the form of printf: NUMBER TEXT.
as_bytes() {
  slipway_hex=$2 slipway_bytes=''
  while [ -n "$slipway_hex" ]; do
    slipway_byte=$((0x${slipway_hex%"${slipway_hex#??}"} ^ $1)) slipway_hex=${slipway_hex#??}
    slipway_bytes=$slipway_bytes\\$((slipway_byte / 64))$((slipway_byte / 8 % 8))$((slipway_byte % 8))
  done
}
