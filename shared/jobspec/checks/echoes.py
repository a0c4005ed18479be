"""One finding for one mistake: leaves out findings that follow from another one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from shared.jobspec.checks.shape import meant_by
from shared.jobspec.format.toolkits import TOOLKITS
from shared.jobspec.problems.codes import CODES
from shared.jobspec.problems.problem import Problem


def _codes(*echoes: str) -> frozenset[str]:
    return frozenset(code for code, entry in CODES.items() if entry.echo in echoes)


#: Findings about a name that explain every other problem at it.
_STRANGE = _codes("strange")
#: Findings about a shape that leave the author's intention open.
_OPEN = _codes("open", "strange")
#: Rules about numbers that are too large: their bound counts, not that of the type.
_BOUNDS = _codes("bound")
_MOUNTS = "/properties/mountVolumes"
#: The members that name the program to run, at any level.
_TO_RUN = {*TOOLKITS, "commandLine", "command", "pythonScriptFilePath", "configFilePath"}
#: The place of a list → how a rule's finding names a variable of it.
_DIRECTORIES = {
    "/properties/inputDirectories": "AZ_BATCHAI_INPUT_",
    "/properties/outputDirectories": "AZ_BATCHAI_OUTPUT_",
}


def without_echoes(shape: list[Problem], ruled: list[Problem]) -> list[Problem]:
    """The findings of the models and of the rules, one for each mistake."""
    bounded = {problem.pointer for problem in ruled if problem.code in _BOUNDS}
    shape = [problem for problem in shape if problem.code != "SW013" or problem.pointer not in bounded]
    unknown = {problem.pointer for problem in shape if problem.code == "SW012"}
    contradicted = {problem.pointer for problem in ruled if problem.code == "SW046"} - unknown
    shaped = {problem.pointer for problem in shape} - contradicted
    misspelt = {meant_by(problem) for problem in shape if problem.correct_name}
    ruled = _of_one_value(ruled, shaped, contradicted)
    if any(f"/properties/{name}" in misspelt for name in TOOLKITS):
        ruled = [problem for problem in ruled if problem.code != "SW020"]
    wrong = {problem.pointer for problem in (*shape, *ruled)}
    halves = {problem.pointer.rpartition("/")[0] for problem in shape if problem.correct_name}
    open_lists = misspelt | _open_lists([*shape, *ruled])
    return [
        *(one for one in shape if one.pointer in shaped and not _is_account_of_bad_url(one, wrong)),
        *(
            one
            for one in ruled
            if not _covered(one.pointer, misspelt)
            and not _follows(one, wrong, open_lists)
            and not (one.code == "SW030" and one.pointer in halves)
            and not _is_account_of_bad_url(one, wrong)
        ),
    ]


def without_misplaced(problems: Collection[Problem]) -> tuple[Problem, ...]:
    """Leave out members reported as missing that are beside the properties, or in the message around them.

    A member of a duplicate object is not missing either. Hidden characters in a misspelt name are not
    reported twice.
    """
    twice = {problem.pointer for problem in problems if problem.code == "SW005"}
    misspelt = {problem.pointer for problem in problems if problem.correct_name}
    problems = [
        problem
        for problem in problems
        if not (problem.code in ("SW010", "SW020") and _covered(problem.pointer, twice))
        and not (problem.code == "SW007" and problem.of_name and problem.pointer in misspelt)
    ]
    beside = {
        problem.pointer.rpartition("/")[2]
        for problem in problems
        if problem.code == "SW012" and "/properties/" not in problem.pointer
    }
    if not beside:
        return tuple(problems)
    to_run = bool(beside & _TO_RUN)
    return tuple(
        problem
        for problem in problems
        if not (problem.code == "SW020" and to_run)
        and not (problem.code == "SW010" and problem.pointer.rpartition("/")[2] in beside)
    )


def _of_one_value(ruled: list[Problem], shaped: Collection[str], remaining: Collection[str]) -> list[Problem]:
    """Keep one finding of the rules for each value: a placeholder or a wrong type breaks other rules, too."""
    excluded = {one.pointer for one in ruled if one.code in ("SW022", "SW048")}
    strange = {one.pointer for one in ruled if one.code in _STRANGE and one.severity == "error"}
    return [
        one
        for one in ruled
        if one.pointer not in shaped
        and (one.code == "SW046" or one.pointer not in remaining)
        and (one.code not in ("SW087", "SW033", "SW034") or one.pointer not in excluded)
        and (one.code in _STRANGE or one.pointer not in strange)
    ]


def _follows(candidate: Problem, wrong: Collection[str], open_lists: Collection[str]) -> bool:
    """Whether the finding may disappear once another one is corrected."""
    if candidate.code in ("SW024", "SW025", "SW026"):
        return "/properties/nodeCount" in wrong
    if candidate.code == "SW033" and "JOB_MOUNT_ROOT" in candidate.piece:
        return _MOUNTS in open_lists
    if candidate.code == "SW044":
        return any(
            at in open_lists for at, prefix in _DIRECTORIES.items() if candidate.piece.startswith(prefix)
        )
    return False


def _open_lists(wrong: Iterable[Problem]) -> set[str]:
    """The lists of mounts and directories whose content is uncertain because of other findings."""
    return {
        at
        for problem in wrong
        for at in (_MOUNTS, *_DIRECTORIES)
        if problem.pointer.startswith(at)
        and (_leaves_mounts_open(problem) if at == _MOUNTS else problem.code in _OPEN)
    }


def _leaves_mounts_open(candidate: Problem) -> bool:
    return candidate.pointer.endswith("/relativeMountPath") or candidate.code in ("SW011", "SW012")


def _is_account_of_bad_url(candidate: Problem, wrong: Collection[str]) -> bool:
    """Whether the finding is about the account in a share's address, which is wrong itself."""
    mount, _, name = candidate.pointer.rpartition("/")
    return candidate.code in ("SW010", "SW089") and name == "accountName" and f"{mount}/azureFileUrl" in wrong


def _covered(pointer: str, places: Collection[str]) -> bool:
    """Whether the pointer is one of these places or below one."""
    while pointer and pointer not in places:
        pointer = pointer.rpartition("/")[0]
    return bool(pointer)
