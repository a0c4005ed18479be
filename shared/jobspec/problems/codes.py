"""Every rule of the format: its title, and what to do. Codes are stable; a retired one is never reused."""

from __future__ import annotations

from typing import Literal, NamedTuple

from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem, Severity


class Code(NamedTuple):
    """A rule: what it is called, and what to do if the finder says nothing better.

    The heads of its page and its row in the index are made from it: `python -m slipway.rules`.
    """

    title: str
    remedy: str
    severity: Severity = "error"
    #: what of a deployment it depends on; "" for one that `slipway validate` decides like every door
    depends: str = ""
    #: which findings it leaves out (`checks/echoes`): strange characters, every other one at their place; an
    #: open intention, those that depend on it; a bound, the one about the bound of the type
    echo: Literal["", "strange", "open", "bound"] = ""


def problem(
    code: str,
    pointer: str,
    message: str,
    remedy: str | None = None,
    severity: Severity | None = None,
    *,
    of_name: bool = False,
    piece: str = "",
    span: tuple[int, int] | None = None,
    correct_name: str = "",
    fix: Fix | None = None,
) -> Problem:
    """A problem; its remedy and severity are by default those of the code."""
    entry = CODES[code]
    return Problem(
        code,
        pointer,
        message,
        remedy or entry.remedy,
        severity or entry.severity,
        of_name=of_name,
        piece=piece,
        span=span,
        correct_name=correct_name,
        fix=fix,
    )


CODES: dict[str, Code] = {
    # Reading
    "SW001": Code(
        "document too large",
        "shorten it; keep data and scripts in files of their own",
        depends="the limits of the deployment, and how long a document is once its secrets are sealed",
    ),
    "SW002": Code("not UTF-8", "save the file as UTF-8"),
    "SW003": Code("not JSON", "correct the text at the place named"),
    "SW004": Code("nested too deep", "remove the extra levels; no job needs more than ten"),
    "SW005": Code("property given twice", "keep one of them"),
    "SW006": Code("number that JSON does not have", "write a plain number"),
    "SW007": Code(
        "forbidden character", "remove the character; it is usually a leftover of copying", echo="strange"
    ),
    "SW008": Code("not an object", 'start the document with "{" and end it with "}"'),
    "SW009": Code("too many values", "split the document or move data into files"),
    # Shape
    "SW010": Code("missing property", "add the property", echo="open"),
    "SW011": Code("wrong type", "write a value of the type named", echo="open"),
    "SW012": Code("unknown property", "remove the property or correct its name", echo="open"),
    "SW013": Code(
        "number out of bounds",
        "write a number within the bounds named",
        depends="the most nodes that the operator allows",
        echo="bound",
    ),
    "SW014": Code("not one of the allowed values", "write one of the values named"),
    "SW015": Code("text empty or too long", "write a text within the length named"),
    "SW016": Code("more problems than are shown", "correct these first, then validate again"),
    "SW017": Code("text in the wrong form", "write it in the form named"),
    # Toolkits
    "SW020": Code(
        "no toolkit", "add one toolkit block, for example customToolkitSettings with a commandLine"
    ),
    "SW021": Code("several toolkits", "keep one toolkit block"),
    "SW022": Code("properties exclude each other", "remove one of them"),
    "SW023": Code("nothing to run", "add the script, configuration file or command line to run"),
    "SW024": Code("more than the nodes allow", "lower the count or raise nodeCount", echo="bound"),
    "SW025": Code("unusual process count", "check the count against nodeCount", "warning"),
    "SW026": Code("arguments of a distributed job missing", "add the arguments for that role", "warning"),
    # Mounts and credentials
    "SW030": Code("credentials contradict", "give exactly one: the value or the Key Vault reference"),
    "SW031": Code(
        "bad mount path",
        "use letters, digits, dot, dash and underscore, with / between levels, for example data/train",
    ),
    "SW032": Code(
        "mount path used twice", "give each mount a relativeMountPath of its own, beside the others"
    ),
    "SW033": Code(
        "path on no mount",
        "add a mount with that relativeMountPath, or correct the path",
        depends="what the cluster mounts; the drop container, which only drops have mounted at scripts",
    ),
    "SW034": Code(
        "cluster mount not known here",
        "make sure that the cluster mounts it, or mount it with the job ($AZ_BATCHAI_JOB_MOUNT_ROOT)",
        "warning",
        depends="what the cluster mounts",
    ),
    "SW035": Code(
        "bad file share address",
        "write https://ACCOUNT.file.core.windows.net/SHARE",
        depends="the cloud of the configured storage accounts",
    ),
    "SW036": Code(
        "bad storage name",
        "write the name as Azure Storage shows it",
        depends="the storage account that stands for its placeholder",
    ),
    "SW037": Code("bad Key Vault secret address", "write https://VAULT.vault.azure.net/secrets/NAME"),
    "SW038": Code(
        "mount command not allowed",
        "mount a share, a container or a file server",
        depends="whether the operator allows mount commands",
    ),
    "SW039": Code(
        "no key for the storage account",
        "add credentials, or ask the operator to configure the account",
        depends="the storage accounts whose keys are configured",
    ),
    # Names, variables, paths
    "SW040": Code(
        "bad directory id", "use up to 64 letters, digits and underscores, for example MODEL", echo="open"
    ),
    "SW041": Code("id used twice", "give each directory an id of its own"),
    "SW042": Code("bad variable name", "use letters, digits and underscores, not starting with a digit"),
    "SW043": Code("variable given twice", "keep one of them"),
    "SW044": Code("variable never defined", "add the directory with that id, or correct the name", "warning"),
    "SW045": Code("variable not known", "check the name; nothing sets this variable", "warning"),
    "SW046": Code(
        "placeholder left",
        "replace the placeholder with a value",
        depends="placeholders of a script and a folder, which only drops have, and the storage account",
    ),
    "SW047": Code(
        "unknown cluster",
        "name a configured cluster, or leave cluster out to use the default",
        depends="the configured clusters",
    ),
    "SW048": Code("bad path", "write a path with forward slashes and without . or .. as a level"),
    "SW049": Code("secret in plain sight", "move the variable from environmentVariables to secrets", "hint"),
    # Constraints
    "SW050": Code("not a duration", 'write an ISO 8601 duration, for example "PT12H" or "P7D"'),
    "SW051": Code(
        "wall-clock limit out of bounds",
        "write a duration within the bounds named",
        depends="the longest time that the operator allows",
    ),
    # Envelope
    "SW060": Code("spec and specBlob", 'give exactly one of "spec" and "specBlob"'),
    "SW061": Code("bad name", "use up to 64 letters, digits, dashes and underscores"),
    "SW062": Code("bad label", "use up to 20 labels, names up to 64 and values up to 256 characters"),
    "SW063": Code(
        "too many receivers", "name fewer receivers", depends="the most receivers that the operator allows"
    ),
    "SW064": Code("bad webhook address", "write a full https address without user name and fragment"),
    "SW065": Code("bad blob path", 'write "container/path/of/job.json", without host and query'),
    "SW066": Code("secret in place of its name", "write the name of a configured secret"),
    "SW067": Code("resource that cannot be requested", "write the value in the form that the page shows"),
    "SW068": Code("bad dependency", "name up to 20 jobs, each once, by id or name"),
    "SW069": Code("bad sweep", "name 1 to 8 parameters with their values, in all up to 1,000 combinations"),
    # Lint: no rule of the format, but it fails later or surprises
    "SW070": Code(
        "script not there",
        "upload it, or correct the path",
        "warning",
        depends="which scripts lie in the drop container",
    ),
    "SW071": Code(
        "Windows line endings",
        "save the script with Unix line endings (LF)",
        "warning",
        depends="what the scripts in the drop container contain",
    ),
    "SW072": Code("image without a tag", "name the tag that the job was tried with", "hint"),
    "SW073": Code(
        "wrong mount root",
        "write $AZ_BATCHAI_JOB_MOUNT_ROOT for what the job itself mounts",
        "warning",
        depends="what the cluster mounts",
    ),
    "SW074": Code(
        "wall-clock limit above the cluster's",
        "write a shorter time, or choose another cluster",
        depends="how long the cluster lets a job run",
    ),
    "SW075": Code(
        "more nodes than the cluster has",
        "lower nodeCount, or choose another cluster",
        "warning",
        depends="how many nodes the cluster has",
    ),
    "SW076": Code(
        "more processes than GPUs",
        "lower the count, or raise nodeCount",
        "warning",
        depends="how many GPUs the cluster's nodes have",
    ),
    "SW077": Code("parameter not used", "correct the name, or add the parameter to the sweep", "warning"),
    "SW078": Code(
        "nodes of a retired size",
        "choose another cluster, or ask its operator for that size",
        "hint",
        depends="the size of the cluster's nodes",
    ),
    "SW080": Code("secret in a command", 'put it into "secrets" and write $NAME in its place', "warning"),
    "SW081": Code("address of the platform", "write the address of a file server"),
    "SW082": Code(
        "mount that is not open to the job",
        "give credentials with the mount",
        depends="the containers and shares that the operator lets jobs mount",
    ),
    # The document as a whole
    "SW085": Code("job in the wrong wrapper", 'put the members of the job into "properties"'),
    "SW086": Code("document of another format", "describe the job as job.json"),
    "SW087": Code(
        "script that no node can open", "write the path of the file, for example $AZ_BATCHAI_JOB_MOUNT_ROOT/…"
    ),
    "SW088": Code("Windows line endings in a command", "end its lines with LF (\\n), not with CRLF (\\r\\n)"),
    "SW089": Code("letter that only looks right", "write the letter of the Latin alphabet", echo="strange"),
    "SW090": Code("bad code", "write the SHA-256 digest of the archive in 64 lowercase hexadecimal digits"),
}
