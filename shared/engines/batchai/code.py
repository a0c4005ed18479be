"""The code of a job on Batch AI: its wire has no place for it, so the job's preparation fetches it. Pure.

The preparation runs on every node, in the job's container if it has one. The address is one of the job's
secrets. Where there is no python3, curl and tar do what `node/code.py` does.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from shared.core.code.record import WORK, CodeSource
from shared.core.engine import Observation, Order
from shared.core.job import Reason
from shared.engines.batchai.saved import SYSTEM, directories, making
from shared.engines.codeless import CODELESS, DELETED, DIFFERENT, EXPIRED, FAILED, HOSTILE
from shared.engines.launch.packages import with_packages
from shared.engines.launch.plan import bringing_in_brief
from shared.engines.node.code import CODES, TIMES
from shared.engines.node.unpack import ENTRIES, UNPACKED

#: The variable with the place of the code, and the secret with its address.
PLACE, ADDRESS = "SLIPWAY_CODE", "SLIPWAY_CODE_ADDRESS"
#: The variable that holds our token: jobs of Batch AI have no tags.
TOKEN = "SLIPWAY_TOKEN"  # noqa: S105 - the name of a variable, not a secret
#: The service's own directories, before a variable of the document can take their names.
TEMPORARY, MOUNTS = "SLIPWAY_CODE_TEMP", "SLIPWAY_CODE_MOUNTS"
#: The reasons of which the node says more.
_VAGUE = frozenset(CODELESS[code].text for code in (HOSTILE, FAILED))
_MORE = ": stderr-job_prep.txt says more"
#: Shell text; the words after it are the sha256, the bytes, the place, and the job's own preparation.
_BRING = """\
bring() (
  for name in $(compgen -e); do
    case $name in SLIPWAY_* | PATH) ;; *) unset "$name" ;; esac
  done 2>/dev/null
  export PATH="{system}:$PATH"
  export AZ_BATCHAI_JOB_TEMP="${temporary}" AZ_BATCHAI_JOB_MOUNT_ROOT="${mounts}"
  if command -v python3 >/dev/null; then
    said=$(printf '{{"address": "%s", %s}}' "${address}" {rest} | python3 -I -c {program} 2>&1)
    code=$?
    for word in {words}; do said=${{said#"$word: "}}; done
    [ -z "$said" ] || printf '%s\n' "$said" >&2
    return "$code"
  fi
  for name in curl tar sha256sum head wc readlink; do
    command -v "$name" >/dev/null && continue
    echo "the image needs python3, or curl, tar and sha256sum: there is no $name" >&2
    return {failed}
  done
  case $(tar --version 2>/dev/null) in
    *"GNU tar"*) ;;
    *) # which may not know long names of POSIX: it would make other files than those that Slipway shows
      echo "the image needs python3, or GNU tar: its tar is another one" >&2
      return {failed}
      ;;
  esac
  archive=$AZ_BATCHAI_JOB_TEMP/code.archive
  status=$(printf 'url = "%s"' "${address}" |
    curl -sS -K - --retry 5 --max-time 240 --max-filesize {bytes} -o "$archive" -D "$archive.head" \
      -w '%{{http_code}}')
  case $? in
    0) ;;
    63) return {different} ;;
    *) return {failed} ;;
  esac
  case $status in
    200) ;;
    403) is_over && return {expired} || return {failed} ;;
    404) return {deleted} ;;
    *) return {failed} ;;
  esac
  [ "$(sha256sum <"$archive")" = "{sha256}  -" ] || return {different}
  is_harmless || {{ rm -rf "$archive.top"; return {hostile}; }}
  mkdir -p "${place}" && tar -xmof "$archive" -C "${place}" || return {hostile}
  rm -rf "$archive" "$archive".*
)
is_over() {{
  local line until=${{{address}#*[?&]se=}} now
  while read -r line; do
    case $line in *[eE]rror-[cC]ode:*AuthenticationFailed*) return 0 ;; esac
  done <"$archive.head"
  until=${{until%%&*}} until=${{until//%3A/:}}
  TZ=UTC printf -v now '%(%Y-%m-%dT%H:%M:%SZ)T' -1
  [[ ! $now < $until ]]
}}
is_harmless() {{
  local kind name count=0 size
  local -A links=() names=()
  tar -tvf "$archive" >"$archive.kinds" && tar -tf "$archive" >"$archive.names" || return 1
  exec 3<"$archive.kinds" 4<"$archive.names"
  while IFS= read -r kind <&3; do
    IFS= read -r name <&4 || return 1
    count=$((count + 1))
    case $kind in [-dl]*) ;; *) return 1 ;; esac
    case /$name/ in //* | */../*) return 1 ;; esac
    plain
    [ -z "${{names["/$name"]+is}}" ] || return 1
    names["/$name"]=1
    [[ $kind != l* ]] || links["/$name"]=1
  done
  [ "$count" -le {entries} ] || return 1
  while IFS= read -r name; do
    plain
    while [[ $name == */* ]]; do
      name=${{name%/*}}
      [ -z "${{links["/$name"]+is}}" ] || return 1
    done
  done <"$archive.names"
  size=$(tar -xOf "$archive" 2>/dev/null | head -c $(({most} + 1)) | wc -c)
  [ "$size" -le {most} ] && {{ [ "${{#links[@]}}" = 0 ] || stays_inside; }}
}}
plain() {{
  local twice=// dot=/./
  while [[ $name == *"$twice"* ]]; do name=${{name//"$twice"//}}; done
  while [[ $name == *"$dot"* ]]; do name=${{name//"$dot"//}}; done
  name=${{name#./}}
  name=${{name%/}}
}}
stays_inside() {{
  local path top=$archive.top
  mkdir "$top" && tar -xmof "$archive" -C "$top" || return 1
  top=$(cd -P "$top" && pwd)
  shopt -s globstar dotglob nullglob
  for path in "$top"/**; do
    [ ! -L "$path" ] || case $(readlink "$path")/ in /*) return 1 ;; esac
    [ ! -L "$path" ] || case $(readlink -f "$path")/ in "$top"/*) ;; *) return 1 ;; esac
  done
  rm -rf "$top"
}}
bring
code=$?
[ "$code" = 0 ] || exit "$code"
{preparation}
"""
#: The job's own preparation cannot end like that of its code.
_OWN = """\
"$BASH" -c {text}
code=$?
[ "$code" -lt {lowest} ] || [ "$code" -gt {highest} ] || code=1
exit "$code\""""


def with_code(order: Order) -> Mapping[str, Any]:
    """The document of an order, whose preparation brings its code if it has any, and what makes packages.

    A preparation also makes the directory that outlives the attempts. A job without one makes it itself.
    """
    properties = dict(order.document["properties"])
    variables, secrets = (properties.get(name) or () for name in ("environmentVariables", "secrets"))
    own = with_packages((properties.get("jobPreparation") or {}).get("commandLine") or "")
    ours, begin = directories(order), making(order)
    if order.code is None:
        own = begin + own if own or order.resumes else ""
    else:
        own = _preparation(order.code, own, begin)
        ours |= {TEMPORARY: "$AZ_BATCHAI_JOB_TEMP", MOUNTS: "$AZ_BATCHAI_JOB_MOUNT_ROOT"}
        ours[PLACE] = _place(order.code.at)
        properties["secrets"] = [*secrets, {"name": ADDRESS, "value": order.code.address}]
    first = [{"name": name, "value": value} for name, value in ours.items()]
    # The token stays the first, where it is looked for in lists.
    mark = [one for one in variables[:1] if one["name"] == TOKEN]
    properties["environmentVariables"] = [*mark, *first, *variables[len(mark) :]]
    if own:
        properties["jobPreparation"] = {"commandLine": own}
    return {**order.document, "properties": properties}


def _place(at: str) -> str:
    return "$AZ_BATCHAI_JOB_TEMP/wd" if at == WORK else f"$AZ_BATCHAI_JOB_MOUNT_ROOT/{at}"


def _preparation(source: CodeSource, own: str, begin: str) -> str:
    rest = json.dumps({"sha256": source.sha256, "bytes": source.bytes, "at": source.at})[1:-1]
    lowest, highest = min(CODELESS), max(CODELESS)
    then = _OWN.format(text=shlex.quote(own), lowest=lowest, highest=highest) if own else ""
    return _BRING.format(
        address=ADDRESS,
        place=PLACE,
        system=SYSTEM,
        temporary=TEMPORARY,
        mounts=MOUNTS,
        rest=shlex.quote(rest),
        program=shlex.quote(bringing_in_brief()),
        sha256=source.sha256,
        bytes=source.bytes,
        most=max(UNPACKED, TIMES * source.bytes),
        entries=ENTRIES,
        words=" ".join(CODES),
        preparation=begin + then,
        expired=EXPIRED,
        deleted=DELETED,
        different=DIFFERENT,
        hostile=HOSTILE,
        failed=FAILED,
    )


def may_lack_code(end: Observation) -> bool:
    """Whether a preparation ended as one without the job's code. The job's resource shows if it has any."""
    return end.reason is Reason.PREPARATION and end.exit_code in CODELESS


def ended_without_code(job: Mapping[str, Any], end: Observation) -> Observation:
    """The end of a job whose preparation failed, in words if its code was the reason.

    A list of jobs does not show that: see `may_lack_code`.
    """
    variables = (job.get("properties") or {}).get("environmentVariables") or ()
    has_code = any(isinstance(one, dict) and one.get("name") == PLACE for one in variables)
    if not has_code or not may_lack_code(end):
        return end
    why = CODELESS[end.exit_code or 0]
    return why.ended(end, why.text + (_MORE if why.text in _VAGUE else ""))
