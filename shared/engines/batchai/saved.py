"""The directory of a job that outlives its attempts, on Batch AI: its variable, and what makes it. Pure.

Its wire has no place for that: it is beside the outputs, and the preparation of a job makes it.
"""

from __future__ import annotations

from shared.core.engine import Order
from shared.core.job import Target
from shared.core.relations.contents import SAVED

#: Where images have their programs: a job's PATH may lead to none.
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_MAKE = f'PATH="{SYSTEM}:$PATH" mkdir -p -m 700 -- "${SAVED}" || exit\n'
#: The same with what an earlier job saved: each node copies it, and the first one gives its copy the name.
#: From then on the others are of no use, those of nodes that died included.
_RESUME = f"""\
(
  export PATH="{SYSTEM}:$PATH"
  over() {{ [ ! -d "${SAVED}" ] || {{ rm -rf -- "${SAVED}".* 2>/dev/null; exit 0; }}; }}
  over
  before="${{{SAVED}%/*}}/{{job}}" new="${SAVED}.$HOSTNAME.$$"
  [ -d "$before" ] || {{ echo "there is nothing in $before: that job left none, or it is gone" >&2; exit 1; }}
  rm -rf -- "$new"
  text=$({{
    mkdir -m 700 -- "$new" && cp -a -- "$before/." "$new/" && chmod u+rwx -- "$new" &&
      mv -T -- "$new" "${SAVED}"
  }} 2>&1)
  over
  rm -rf -- "$new"
  echo "$before could not be copied: $text" >&2
  exit 1
) || exit 1
"""


def directories(order: Order) -> dict[str, str]:
    """The variables with the directory of a job, and with those of the jobs that it waited for."""
    own = {SAVED: _directory(order.document["properties"]["stdOutErrPathPrefix"], order.target)}
    earlier = (one for one in order.before if one.prefix and one.saved)
    return own | {one.saved: _directory(one.prefix, one.target) for one in earlier}


def making(order: Order) -> str:
    """Shell text that makes it, with a copy of what the job saved from which this one goes on."""
    return _RESUME.replace("{job}", order.resumes) if order.resumes else _MAKE


def _directory(prefix: str, target: Target) -> str:
    return f"{prefix.rstrip('/')}/saved/{target.job_id}"
