"""What members of several formats mean, and what is said of those without a counterpart."""

from __future__ import annotations

from slipway.commands.init.foreign.draft import JobDraft, count_of, text_of, wrong
from slipway.commands.init.foreign.yaml_tree import Member

CLUSTER = "the cluster decides: slipway run --cluster NAME; `slipway nodes` shows what there is"
DATA = "put data into a container, and mount it: slipway data put, docs/how-to/keep-large-files-out.md"
PRIORITY = "slipway run --priority low, normal or high"
FORWARD = "while it runs: slipway forward JOB PORT"


def name(member: Member, draft: JobDraft) -> None:
    """The name of the job."""
    draft.name = text_of(member, draft)


def nodes(member: Member, draft: JobDraft) -> None:
    """The nodes of a job whose command runs on each of them."""
    draft.nodes = count_of(member, draft)
    draft.on_every_node = True


def variable(member: Member, draft: JobDraft) -> None:
    """A variable in an object of them; one without a value has that of the person's shell."""
    if member.kind != "value":
        raise wrong(member, draft, "a text")
    draft.variable(member, member.name, None if member.value is None else member.text)


def label(member: Member, draft: JobDraft) -> None:
    """A label in an object of them."""
    if member.kind != "value":
        raise wrong(member, draft, "a text")
    draft.label(member, member.name, member.text or "")
