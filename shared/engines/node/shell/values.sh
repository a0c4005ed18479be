#!/bin/sh
# One run of an attempt on one node, in POSIX shell: what `run.py` is for several nodes and for toolkits. It needs
# no Python and no bash in a job's image, and follows the same claims and records (`claim.py`). What the engine
# says is in variables, SLIPWAY_…; what a person wrote meets a shell only as the job's own command.
#
# Names of this program begin with slipway_, so that a value that uses $run or $code is left as it is.

#: Seconds between two looks at the claim.
slipway_watch=5
slipway_tab=$(printf '\t')
slipway_newline='
'

# The text with $NAME and ${NAME} replaced where the name is known, as slipway_text.
expand() {
  slipway_rest=$1 slipway_text=
  while :; do
    case $slipway_rest in *'$'*) ;; *) break ;; esac
    slipway_text=$slipway_text${slipway_rest%%'$'*}
    slipway_rest=${slipway_rest#*'$'}
    case $slipway_rest in
      '{'*'}'*)
        slipway_name=${slipway_rest#'{'} slipway_after=${slipway_rest#*'}'}
        slipway_name=${slipway_name%%'}'*}
        slipway_written="\${$slipway_name}"
        ;;
      *)
        slipway_name=${slipway_rest%%[!A-Za-z0-9_]*}
        slipway_after=${slipway_rest#"$slipway_name"} slipway_written="\$$slipway_name"
        ;;
    esac
    case $slipway_name in '' | [0-9]* | *[!A-Za-z0-9_]* | slipway_*) slipway_text="$slipway_text\$" && continue ;; esac
    slipway_rest=$slipway_after
    if eval "[ -n \"\${$slipway_name+known}\" ]"; then
      eval "slipway_text=\$slipway_text\$$slipway_name"
    else
      slipway_text=$slipway_text$slipway_written
    fi
  done
  slipway_text=$slipway_text$slipway_rest
}

# Make it a variable of the job. A shell has a few of its own that cannot be set.
publish() {
  if (export "$1=$2") 2>/dev/null; then export "$1=$2"; fi
}

# The text as a string of JSON, as slipway_json.
as_json() {
  slipway_rest=$1 slipway_json=
  while :; do
    case $slipway_rest in *[\"\\[:cntrl:]]*) ;; *) break ;; esac
    slipway_before=${slipway_rest%%[\"\\[:cntrl:]]*}
    slipway_rest=${slipway_rest#"$slipway_before"}
    slipway_mark=${slipway_rest%"${slipway_rest#?}"}
    slipway_rest=${slipway_rest#?}
    slipway_json=$slipway_json$slipway_before$(printf '\\u%04x' "'$slipway_mark")
  done
  slipway_json="\"$slipway_json$slipway_rest\""
}

# The time now, in UTC, as records and journals write it.
stamp() {
  date -u +%Y-%m-%dT%H:%M:%SZ
}
