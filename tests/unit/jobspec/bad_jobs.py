"""Jobs with one mistake each, and the findings expected: code, pointer below /properties, severity."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.unit.jobspec.jobs import (
    BLOBS,
    CLUSTER,
    FILE_SERVER,
    REFERENCE,
    SCRIPT,
    blobs,
    job,
    mounts,
    script_toolkit,
    share,
    toolkit,
)


class Bad(NamedTuple):
    name: str
    document: dict[str, Any]
    code: str
    pointer: str
    severity: str = "error"
    #: A piece of the message or the remedy.
    says: str = ""


_JOB_ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT"
_SHARE = "/mountVolumes/azureFileShares/0"
_BLOBS = "/mountVolumes/azureBlobFileSystems/0"
_COMMAND = "/customToolkitSettings/commandLine"
_REGISTRY = "/containerSettings/imageSourceRegistry"


def _command(line: str) -> dict[str, Any]:
    return job(customToolkitSettings={"commandLine": line})


def _registry(**registry: Any) -> dict[str, Any]:
    return job(containerSettings={"imageSourceRegistry": {"image": "ubuntu:22.04", **registry}})


def _inputs(*entries: Any) -> dict[str, Any]:
    return job(inputDirectories=list(entries))


def _outputs(*entries: Any) -> dict[str, Any]:
    return job(outputDirectories=list(entries))


def _output(**changes: Any) -> dict[str, Any]:
    return {"id": "MODEL", "pathPrefix": f"{_JOB_ROOT}/logs", **changes}


def _time(text: Any) -> dict[str, Any]:
    return job(constraints={"maxWallClockTime": text})


def _variables(*names: str) -> dict[str, Any]:
    return job(environmentVariables=[{"name": name, "value": "v"} for name in names])


SHAPE = (
    Bad("no cluster", job(cluster=None), "SW010", "/cluster", says="cluster"),
    Bad("no node count", job(nodeCount=None), "SW010", "/nodeCount"),
    Bad("no output prefix", job(stdOutErrPathPrefix=None), "SW010", "/stdOutErrPathPrefix"),
    Bad("text for a number", job(nodeCount="2"), "SW011", "/nodeCount", says="without quotes"),
    Bad("words for a number", job(nodeCount="two"), "SW011", "/nodeCount", says="not text"),
    Bad("true for a number", job(nodeCount=True), "SW011", "/nodeCount", says="true or false"),
    Bad("fraction for a number", job(nodeCount=2.0), "SW011", "/nodeCount", says="fraction"),
    Bad("number for a text", job(stdOutErrPathPrefix=7), "SW011", "/stdOutErrPathPrefix", says="a number"),
    Bad("object for a list", job(secrets={"name": "A"}), "SW011", "/secrets", says='"["'),
    Bad("text for an object", job(cluster="x"), "SW011", "/cluster", says="an object"),
    Bad("list for an object", job(jobPreparation=[]), "SW011", "/jobPreparation", says="a list"),
    Bad("null for a needed value", job(environmentVariables=[{"name": "A", "value": None}]), "SW011",
        "/environmentVariables/0/value", says="null"),
    Bad("misspelt property", job(nodeCuont=2), "SW012", "/nodeCuont", says='did you mean "nodeCount"?'),
    Bad("older spelling", script_toolkit("horovodSettings", process_count=2), "SW012",
        "/horovodSettings/process_count", says='did you mean "processCount"?'),
    *(Bad(f"oldest spelling in {block}", script_toolkit(block, numberOfProcesses=2), "SW012",
        f"/{block}/numberOfProcesses", says='did you mean "processCount"?')
      for block in ("horovodSettings", "chainerSettings", "pyTorchSettings")),
    *(Bad(f"oldest spelling beside the newest, {count}", script_toolkit("chainerSettings", processCount=2,
        numberOfProcesses=count), "SW012", "/chainerSettings/numberOfProcesses", says="remove it")
      for count in (2, 3)),
    *(Bad(f"{wrong} beside {right}", script_toolkit("horovodSettings", **{wrong: "a", right: "b"}), "SW012",
        f"/horovodSettings/{wrong}", says=f'remove it; "{right}" is written already')
      for wrong, right in (("masterCommandLineArgs", "commandLineArgs"),
                           ("commandlineArgs", "commandLineArgs"), ("command_line_args", "commandLineArgs"),
                           ("c\u043emmandLineArgs", "commandLineArgs"))),
    Bad("processes where there are none", script_toolkit("caffe2Settings", numberOfProcesses=2), "SW012",
        "/caffe2Settings/numberOfProcesses", says="starts its own processes"),
    Bad("misspelt in a list", _outputs(_output(pathSufix="a")), "SW012", "/outputDirectories/0/pathSufix",
        says='did you mean "pathSuffix"?'),
    Bad("unheard-of property", job(zzz=1), "SW012", "/zzz", says="unknown property"),
    Bad("no nodes", job(nodeCount=0), "SW013", "/nodeCount", says="at least 1"),
    Bad("negative nodes", job(nodeCount=-5), "SW013", "/nodeCount"),
    Bad("too many nodes", job(nodeCount=101), "SW013", "/nodeCount", says="at most 100"),
    Bad("more than an int32", script_toolkit("chainerSettings", processCount=2**31), "SW013",
        "/chainerSettings/processCount"),
    Bad("unknown priority", job(schedulingPriority="High"), "SW014", "/schedulingPriority", says='"high"'),
    Bad("empty text", job(stdOutErrPathPrefix=""), "SW015", "/stdOutErrPathPrefix", says="empty"),
    Bad("endless text", _command("x" * 40_000), "SW015", _COMMAND, says="40000"),
    Bad("endless mount path", blobs(relativeMountPath="x" * 300), "SW015", f"{_BLOBS}/relativeMountPath"),
    Bad("control character", _command("echo \x07"), "SW007", _COMMAND, says="U+0007"),
    Bad("hidden direction mark", _command("echo \u202e"), "SW007", _COMMAND, says="U+202E"),
)  # fmt: skip

_KEYED = {"accountName": "account", "containerName": "data", "relativeMountPath": "data"}
#: Names in the wrong place.
MISPLACED = (
    Bad("image of the job", job(image="ubuntu:22.04"), "SW012", "/image",
        says="into containerSettings.imageSourceRegistry"),
    Bad("command of the job", job(customToolkitSettings=None, commandLine="hostname"), "SW012",
        "/commandLine", says="into customToolkitSettings"),
    Bad("command beside a toolkit", job(commandLine="hostname"), "SW012", "/commandLine",
        says="into customToolkitSettings"),
    Bad("image of a container", job(containerSettings={"image": "ubuntu:22.04"}), "SW012",
        "/containerSettings/image", says="into imageSourceRegistry"),
    Bad("key beside a mount", mounts(azureBlobFileSystems=[{**_KEYED, "accountKey": "a2V5"}]), "SW012",
        f"{_BLOBS}/accountKey", says="into credentials"),
    Bad("key by another name", mounts(azureBlobFileSystems=[{**_KEYED, "accountNameKey": "a2V5"}]), "SW012",
        f"{_BLOBS}/accountNameKey", says="remove the property"),
    Bad("timeout", job(timeout="PT1H"), "SW012", "/timeout", says="maxWallClockTime"),
    Bad("time of the job", job(maxWallClockTime="PT1H"), "SW012", "/maxWallClockTime",
        says="into constraints"),
    Bad("retries", job(maxTaskRetryCount=3), "SW012", "/maxTaskRetryCount", says="slipway.json"),
    Bad("labels", job(labels={}), "SW012", "/labels", says="slipway.json"),
    Bad("script of the job", job(pythonScriptFilePath="/a.py"), "SW012", "/pythonScriptFilePath",
        says="into the block of a toolkit"),
    Bad("servers of the job", job(parameterServerCount=1), "SW012", "/parameterServerCount",
        says="into tensorFlowSettings"),
    Bad("number in a variable", job(environmentVariables=[{"name": "A", "value": 5}]), "SW011",
        "/environmentVariables/0/value", says="in double quotes"),
    Bad("number in a secret", job(secrets=[{"name": "A", "value": 1.5}]), "SW011", "/secrets/0/value",
        says="in double quotes"),
)  # fmt: skip

TOOLKITS = (
    Bad("no toolkit", job(customToolkitSettings=None), "SW020", "", says="pyTorchSettings"),
    Bad("two toolkits", job(caffe2Settings={"pythonScriptFilePath": SCRIPT}), "SW021", "/caffe2Settings"),
    Bad("configuration and script", toolkit("caffeSettings", configFilePath="a", pythonScriptFilePath="b"),
        "SW022", "/caffeSettings/pythonScriptFilePath"),
    Bad("interpreter without script", toolkit("caffeSettings", configFilePath="a", pythonInterpreterPath="b"),
        "SW022", "/caffeSettings/pythonInterpreterPath"),
    Bad("BrainScript with a script", toolkit("cntkSettings", languageType="brainscript", configFilePath="a",
        pythonScriptFilePath="b"), "SW022", "/cntkSettings/pythonScriptFilePath"),
    Bad("Python with a configuration", script_toolkit("cntkSettings", languageType="Python",
        configFilePath="a"),
        "SW022", "/cntkSettings/configFilePath"),
    Bad("both without a language", script_toolkit("cntkSettings", configFilePath="a"),
        "SW022", "/cntkSettings/pythonScriptFilePath"),
    Bad("BrainScript without configuration", toolkit("cntkSettings", languageType="BrainScript"), "SW023",
        "/cntkSettings/configFilePath"),
    Bad("Python without script", toolkit("cntkSettings", languageType="python"), "SW023",
        "/cntkSettings/pythonScriptFilePath"),
    Bad("CNTK without anything", toolkit("cntkSettings"), "SW023", "/cntkSettings"),
    Bad("Caffe without anything", toolkit("caffeSettings"), "SW023", "/caffeSettings"),
    Bad("no command", job(customToolkitSettings={}), "SW023", _COMMAND),
    Bad("blank command", _command("  "), "SW023", _COMMAND, says="commandLine is blank"),
    Bad("unknown language", script_toolkit("cntkSettings", languageType="Pyton"), "SW014",
        "/cntkSettings/languageType", says='did you mean "Python"?'),
    Bad("unknown backend", script_toolkit("pyTorchSettings", communicationBackend="glo"), "SW014",
        "/pyTorchSettings/communicationBackend", says='did you mean "Gloo"?'),
    Bad("MPI without command", toolkit("customMpiSettings"), "SW010", "/customMpiSettings/commandLine"),
    Bad("no script", toolkit("pyTorchSettings"), "SW010", "/pyTorchSettings/pythonScriptFilePath"),
    Bad("parameter servers", script_toolkit("tensorFlowSettings", parameterServerCount=3), "SW024",
        "/tensorFlowSettings/parameterServerCount"),
    Bad("many processes", script_toolkit("horovodSettings", processCount=9), "SW025",
        "/horovodSettings/processCount", "warning"),
    Bad("many workers", script_toolkit("tensorFlowSettings", workerCount=9), "SW025",
        "/tensorFlowSettings/workerCount", "warning"),
    Bad("idle nodes", toolkit("customMpiSettings", commandLine="a", processCount=1), "SW025",
        "/customMpiSettings/processCount", "warning", says="without a process"),
    Bad("arguments of one role only", script_toolkit("tensorFlowSettings", masterCommandLineArgs="a",
        workerCommandLineArgs="b"), "SW026", "/tensorFlowSettings/parameterServerCommandLineArgs", "warning"),
)  # fmt: skip

MOUNTS = (
    Bad("key and reference", share(credentials={"accountKey": "a", "accountKeySecretReference": REFERENCE}),
        "SW030", f"{_SHARE}/credentials"),
    Bad("registry without password", _registry(credentials={"username": "a"}), "SW030",
        f"{_REGISTRY}/credentials"),
    Bad("password twice", _registry(credentials={"username": "a", "password": "b",
        "passwordSecretReference": REFERENCE}), "SW030", f"{_REGISTRY}/credentials"),
    Bad("secret without value", job(secrets=[{"name": "A"}]), "SW030", "/secrets/0"),
    Bad("secret twice", job(secrets=[{"name": "A", "value": "b", "valueSecretReference": REFERENCE}]),
        "SW030",
        "/secrets/0"),
    *(Bad(f"mount at {path!r}", mounts(azureBlobFileSystems=[BLOBS, {**BLOBS, "relativeMountPath": path}]),
        "SW031",
        "/mountVolumes/azureBlobFileSystems/1/relativeMountPath")
      for path in ("/a", "../a", "a/../b", "a//b", "a/", ".a", "a b", "a\\b", "-a", "ä", "a;b", "$A", "a\n")),
    Bad("mounted twice", mounts(azureBlobFileSystems=[BLOBS, BLOBS]), "SW032",
        "/mountVolumes/azureBlobFileSystems/1/relativeMountPath"),
    Bad("mounted twice over lists", mounts(azureBlobFileSystems=[BLOBS, {**BLOBS,
        "relativeMountPath": "logs"}]),
        "SW032", "/mountVolumes/azureBlobFileSystems/1/relativeMountPath"),
    Bad("mounted inside another", mounts(azureBlobFileSystems=[BLOBS, {**BLOBS,
        "relativeMountPath": "data/more"}]), "SW032",
        "/mountVolumes/azureBlobFileSystems/1/relativeMountPath", says="inside"),
    Bad("no size", job(containerSettings={"imageSourceRegistry": {"image": "a:1"}, "shmSize": ""}), "SW015",
        "/containerSettings/shmSize"),
    *(Bad(f"share at {url[:40]}", share(azureFileUrl=url), "SW035", f"{_SHARE}/azureFileUrl")
      for url in ("http://account.file.core.windows.net/logs", "https://account.file.core.windows.net",
                  "//account.file.core.windows.net/logs",
        "https://account.file.core.windows.net/logs?sv=1&sig=x",
                  "https://me:pw@account.file.core.windows.net/logs", "https://account/logs", "nonsense",
                  "https://account.file.core.windows.net/logs/../x", "https://account.x/" + "l" * 2000)),
    *(Bad(f"share called {name}", share(azureFileUrl=f"https://account.file.core.windows.net/{name}"),
        "SW035", f"{_SHARE}/azureFileUrl", says="3 to 63")
      for name in ("ab", "Logs", "a--b", "-ab", "a_b", "l" * 64)),
    Bad("another account in the address", share(accountName="other"), "SW036", f"{_SHARE}/accountName"),
    Bad("another account in the address, with its key",
        share(accountName="other", credentials={"accountKey": "a"}), "SW036", f"{_SHARE}/accountName",
        "warning"),
    Bad("a blob host as a share", share(azureFileUrl="https://account.blob.core.windows.net/logs"), "SW035",
        f"{_SHARE}/azureFileUrl"),
    Bad("a host that only begins like the account's",
        share(azureFileUrl="https://account.file.core.windows.net.evil.example/logs"), "SW035",
        f"{_SHARE}/azureFileUrl"),
    *(Bad(f"account {name!r}", blobs(accountName=name), "SW036", f"{_BLOBS}/accountName")
      for name in ("A", "ab", "my-account", "Account", "a" * 25, "acc\n")),
    *(Bad(f"container {name[:9]!r}", blobs(containerName=name), "SW036", f"{_BLOBS}/containerName")
      for name in ("ab", "Data", "a--b", "-ab", "ab-", "a/b", "a" * 64)),
    *(Bad(f"secret at {url[:40]}", job(secrets=[{"name": "A", "valueSecretReference": {**REFERENCE,
        "secretUrl": url}}]),
        "SW037", "/secrets/0/valueSecretReference/secretUrl")
      for url in ("http://keys.vault.azure.net/secrets/a", "https://keys.vault.azure.net.evil.org/secrets/a",
                  "https://evil.org/secrets/a", "https://keys.vault.azure.net/keys/a",
                  "https://evil.org#.vault.azure.net/secrets/a", "https://me@keys.vault.azure.net/secrets/a",
                  "https://keys.vault.azure.net/secrets/a?x=y")),
    Bad("vault without full id", share(credentials={"accountKeySecretReference": {**REFERENCE,
        "sourceVault": {"id": "keys"}}}), "SW017",
        f"{_SHARE}/credentials/accountKeySecretReference/sourceVault/id"),
    Bad("file server without full id", mounts(fileServers=[{"fileServer": {"id": "nfs"},
        "relativeMountPath": "n"}]),
        "SW017", "/mountVolumes/fileServers/0/fileServer/id"),
    *(Bad(f"secret in {place}", job(**properties), "SW080", pointer, "warning")
      for place, pointer, properties in (
          ("a command", "/customToolkitSettings/commandLine",
           {"customToolkitSettings": {"commandLine": "a --api-key abc --epochs 3"}}),
          ("the preparation", "/jobPreparation/commandLine",
           {"jobPreparation": {"commandLine": "export HF_TOKEN=abc; a"}}),
          ("a variable", "/environmentVariables/0/value",
           {"environmentVariables": [{"name": "DATABASE", "value": "postgresql://me:abc@db/x"}]}),
      )),
    *(Bad(f"file server option {options[:30]}", mounts(fileServers=[{"fileServer": {"id": FILE_SERVER},
        "relativeMountPath": "n", "mountOptions": options}]),
        "SW081", "/mountVolumes/fileServers/0/mountOptions")
      for options in ("addr=169.254.169.254", "rw,addr=2852039166,nolock", "mountaddr=0xA9FEA9FE",
                      "addr=fd00:ec2::254", "addr=168.63.129.16")),
    Bad("mode", share(fileMode="rwx"), "SW017", f"{_SHARE}/fileMode"),
    Bad("directory mode", share(directoryMode="0888"), "SW017", f"{_SHARE}/directoryMode"),
    Bad("options for a shell", blobs(mountOptions="-o a; rm -rf /"), "SW017", f"{_BLOBS}/mountOptions"),
    Bad("mount command", mounts(unmanagedFileSystems=[{"mountCommand": "mount x",
        "relativeMountPath": "u"}]), "SW038",
        "/mountVolumes/unmanagedFileSystems/0"),
    Bad("image", _registry(image="--privileged"), "SW017", f"{_REGISTRY}/image"),
    Bad("image with a space", _registry(image="a b"), "SW017", f"{_REGISTRY}/image"),
    Bad("registry with a password", _registry(serverUrl="https://me:pw@registry"), "SW017",
        f"{_REGISTRY}/serverUrl"),
    Bad("shared memory", job(containerSettings={"imageSourceRegistry": {"image": "a"}, "shmSize": "lots"}),
        "SW017", "/containerSettings/shmSize"),
)  # fmt: skip

_DIGEST = "0123456789abcdef" * 4
_VM = CLUSTER.replace("Microsoft.BatchAI/workspaces/dev/clusters", "Microsoft.Compute/virtualMachines")
#: What is sure to fail on the node.
FAILING = (
    *(Bad(f"script {path[:30]!r}", toolkit("pyTorchSettings", pythonScriptFilePath=path), code,
        "/pyTorchSettings/pythonScriptFilePath", says=says)
      for path, code, says in (
        ("train.py", "SW087", "relative"), ("./a.py", "SW087", "relative"), ("~/a.py", "SW087", "relative"),
        ("/a/train.py --epochs 10", "SW087", "commandLineArgs"), ("python /a/train.py", "SW087", "a command"),
        *((f"{words} {SCRIPT}", "SW087", "a command") for words in ("time", "bash", "mpirun -n 4", "A=1")),
        ("/usr/bin/time -v /a/train", "SW087", "a command"), ("/bin/bash $HOME/a.py", "SW087", "a command"),
        (f"/opt/run --fast {SCRIPT}", "SW087", "a command"), (f"$HOME/run {SCRIPT}", "SW087", "a command"),
        *((f"{SCRIPT}{rest}", "SW087", "a command")
          for rest in ("; true", ";true", "&& echo", " && echo", "|tee log", " | tee log", ">log", "&")),
        (f"true;{SCRIPT}", "SW087", "a command"), (f"cd /a&&{SCRIPT}", "SW087", "a command"),
        ("time /a/train", "SW087", "a command"), ("cd /a && train", "SW087", "a command"),
        ("  ", "SW023", "blank"), ("https://example.org/train.py", "SW087", "an address"),
        ("wasbs://a@b.blob.core.windows.net/train.py", "SW087", "an address"),
        ("%AZ_BATCHAI_JOB_MOUNT_ROOT%\\data\\train.py", "SW048", "Windows"), ("C:\\a.py", "SW048", "Windows"),
        ("%HOME%/train.py", "SW048", "Windows"), ("\\\\server\\share\\a.py", "SW048", "Windows"),
    )),
    Bad("script beside the job", toolkit("pyTorchSettings", pythonScriptFilePath="./src/train.py"), "SW087",
        "/pyTorchSettings/pythonScriptFilePath", says="<SLIPWAY_FOLDER>/src/train.py"),
    *(Bad(f"script in quotes {path[:12]}", toolkit("pyTorchSettings", pythonScriptFilePath=path), "SW048",
        "/pyTorchSettings/pythonScriptFilePath", says="quotes")
      for path in (f"'{SCRIPT}'", f'"{SCRIPT}"', "'train.py'", "\"/a b/train.py\" ")),
    Bad("logs in quotes", job(stdOutErrPathPrefix=f"'{_JOB_ROOT}/logs'"), "SW048", "/stdOutErrPathPrefix",
        says="quotes"),
    Bad("input in quotes", _inputs({"id": "A", "path": f'"{_JOB_ROOT}/data"'}), "SW048",
        "/inputDirectories/0/path", says="quotes"),
    Bad("arguments of the script of TensorFlow", toolkit("tensorFlowSettings",
        pythonScriptFilePath="/a.py --x"), "SW087", "/tensorFlowSettings/pythonScriptFilePath",
        says="masterCommandLineArgs"),
    Bad("configuration at an address", toolkit("cntkSettings", configFilePath="https://a.b/c.cntk"), "SW087",
        "/cntkSettings/configFilePath"),
    Bad("interpreter at an address", script_toolkit("pyTorchSettings", pythonInterpreterPath="https://a.b/c"),
        "SW087", "/pyTorchSettings/pythonInterpreterPath"),
    Bad("blank interpreter", script_toolkit("pyTorchSettings", pythonInterpreterPath=" "), "SW023",
        "/pyTorchSettings/pythonInterpreterPath"),
    Bad("the word for another toolkit", job(toolType="cntk"), "SW022", "/toolType", "warning",
        says="customToolkitSettings"),
    Bad("CRLF in a command", _command("cd /tmp\r\nls"), "SW088", _COMMAND),
    Bad("CR behind a command", _command("ls\r"), "SW088", _COMMAND),
    Bad("CRLF in a preparation", job(jobPreparation={"commandLine": "a\r\nb"}), "SW088",
        "/jobPreparation/commandLine"),
    Bad("CRLF in arguments", script_toolkit("pyTorchSettings", commandLineArgs="a\r\nb"), "SW088",
        "/pyTorchSettings/commandLineArgs"),
    Bad("blank command under MPI", toolkit("customMpiSettings", commandLine=" \t"), "SW023",
        "/customMpiSettings/commandLine"),
    Bad("blank preparation", job(jobPreparation={"commandLine": " "}), "SW023",
        "/jobPreparation/commandLine"),
    *(Bad(f"image {image[:30]}", _registry(image=image), "SW017", f"{_REGISTRY}/image", says=says)
      for image, says in (
        ("https://registry.example.org/team/a:1", "an address"), ("docker://ubuntu:22.04", "ubuntu:22.04"),
        ("ubuntu:1:2", "two tags"), ("Ubuntu:16.04", "capital letters"), ("team/Image", "capital letters"),
        ("ubuntu@sha256:0123", "digest"), (f"ubuntu@md5:{_DIGEST}", "digest"), (f"a:1@{_DIGEST}", "digest"),
        ("ubuntu:", "name of an image"), ("a//b", "name of an image"), ("ubuntu/", "name of an image"),
    )),
    Bad("cluster that is a machine", job(cluster={"id": _VM}), "SW047", "/cluster/id"),
    Bad("cluster without workspace", job(cluster={"id": CLUSTER.replace("/workspaces/dev", "")}), "SW047",
        "/cluster/id", says="2017-09-01"),
    Bad("vault that is a cluster", share(credentials={"accountKeySecretReference": {**REFERENCE,
        "sourceVault": {"id": CLUSTER}}}), "SW017",
        f"{_SHARE}/credentials/accountKeySecretReference/sourceVault/id"),
    Bad("file server that is a cluster", mounts(fileServers=[{"fileServer": {"id": CLUSTER},
        "relativeMountPath": "n"}]), "SW017", "/mountVolumes/fileServers/0/fileServer/id"),
)  # fmt: skip

#: Characters that only look right; what `says` names is their code point.
LOOKALIKES = (
    Bad("Cyrillic letter in a name", job(**{"n\u043edeCount": 3}), "SW012", "/n\u043edeCount",
        says="U+043E (CYRILLIC SMALL LETTER O)"),
    Bad("Cyrillic letter in an id", _inputs({"id": "D\u0410TA", "path": "/opt"}), "SW089",
        "/inputDirectories/0/id", says="U+0410"),
    Bad("Greek letter in an image", _registry(image="ubunt\u03bf:1"), "SW089", f"{_REGISTRY}/image",
        says="U+03BF"),
    Bad("Cyrillic letter in a command", _command("p\u0443thon a.py"), "SW089", _COMMAND, "warning",
        says="U+0443"),
    Bad("typographic quote in a command", _command("echo \u201ca b"), "SW089", _COMMAND, "warning",
        says="U+201C"),
    Bad("dash in a command", _command("a \u2013epochs 1"), "SW089", _COMMAND, "warning", says='"--"'),
    Bad("no-break space in a command", _command("python\u00a0/a.py"), "SW007", _COMMAND,
        says="U+00A0 (NO-BREAK SPACE)"),
    Bad("no-break space in an account", blobs(accountName="account\u00a0"), "SW007", f"{_BLOBS}/accountName",
        says="U+00A0"),
    *(Bad(f"invisible U+{ord(one):04X}", _inputs({"id": f"A{one}", "path": "/opt"}), "SW007",
        "/inputDirectories/0/id", says=f"U+{ord(one):04X}")
      for one in "\u00ad\u034f\u180e\u200c\u200d\u2061"),
    *(Bad(f"blank U+{ord(one):04X}", _command(f"a{one}b"), "SW007", _COMMAND, says=f"U+{ord(one):04X}")
      for one in "\u2028\u2029\u3164\u2800\uffa0"),
    *(Bad(f"separator U+{ord(one):04X} in a path", _inputs({"id": "A", "path": f"/opt/a{one}b"}), "SW007",
        "/inputDirectories/0/path", says=f"U+{ord(one):04X}")
      for one in "\u2028\u2029"),
    Bad("joiner in a command", _command("a\u200db"), "SW007", _COMMAND, says="U+200D"),
    Bad("Greek letter first in an image", _registry(image="\u03c5buntu:1"), "SW089", f"{_REGISTRY}/image",
        says="U+03C5"),
    Bad("Cyrillic letter in a time", _time("\u04201D"), "SW089", "/constraints/maxWallClockTime",
        says="U+0420"),
    Bad("id of one Cyrillic letter", _inputs({"id": "\u0410", "path": "/opt"}), "SW089",
        "/inputDirectories/0/id", says="U+0410"),
    Bad("bold letter in an id", _inputs({"id": "\U0001d400B", "path": "/opt"}), "SW089",
        "/inputDirectories/0/id", says='"A"'),
    *(Bad(f"mark {one} in a command", _command(f"ls{one} ls"), "SW089", _COMMAND, "warning",
        says=f"U+{ord(one):04X}")
      for one in "\u037e\uff1b\uff5c\uff06\uff04\uff08"),
    Bad("slash of another kind", _inputs({"id": "A", "path": "/opt\u2044a"}), "SW089",
        "/inputDirectories/0/path", "warning", says="U+2044"),
    Bad("zero-width space", _command("a\u200bb"), "SW007", _COMMAND, says="U+200B (ZERO WIDTH SPACE)"),
)  # fmt: skip

PATHS = (
    Bad("logs on no mount", job(stdOutErrPathPrefix=f"{_JOB_ROOT}/log"), "SW033", "/stdOutErrPathPrefix",
        says='did you mean "logs"?'),
    Bad("a longer name", job(stdOutErrPathPrefix=f"{_JOB_ROOT}/logs (1)/x"), "SW033", "/stdOutErrPathPrefix",
        says='nothing at "logs (1)"'),
    Bad("other letters in a command", _command(f"ls {_JOB_ROOT}/données/x"), "SW033", _COMMAND, "warning",
        says='nothing at "données"'),
    Bad("tab in a path", toolkit("caffe2Settings", pythonScriptFilePath=f"{_JOB_ROOT}/logs/a\tb.py"), "SW048",
        "/caffe2Settings/pythonScriptFilePath", says="U+0009"),
    *(Bad(f"prefix {prefix} {pointer}", document, "SW045", pointer, severity, says=says)
      for prefix, severity, says in (
        ("$AZ_LEARNING_MOUNT_ROOT", "error", "nothing sets $AZ_LEARNING_MOUNT_ROOT, so the results are lost"),
        ("${AZ_LEARNING_MOUNT_ROOT}", "error", "nothing sets $AZ_LEARNING_MOUNT_ROOT"),
        ("$AZ_BATCHAI_MOUNTROOT", "error", 'did you mean "AZ_BATCHAI_MOUNT_ROOT"?'),
        ("$AZ_BATCHAI_OUTPUT_A", "error", "lost"),
        ("$MOUNT_ROOT", "warning", "nothing sets $MOUNT_ROOT, so the results are lost"),
        ("$AZ_BATCH_TASK_DIR", "warning", "nothing sets $AZ_BATCH_TASK_DIR"),
        *((begin, "error", f'begins with "{begin}", which is not a variable') for begin in (
          "${AZ_BATCHAI_MOUNT_ROOT", "${UNDEF:-x}", "$$AZ_BATCHAI_MOUNT_ROOT", "$1", "${A[0]}", "$[1]",
          "$ AZ_BATCHAI_MOUNT_ROOT", "$(echo x)",
        )),
      )
      for document, pointer in (
        (job(stdOutErrPathPrefix=f"{prefix}/logs"), "/stdOutErrPathPrefix"),
        (_outputs(_output(pathPrefix=f"{prefix}/logs")), "/outputDirectories/0/pathPrefix"),
      )),
    Bad("prefix of a variable of the job", job(stdOutErrPathPrefix="$OWN/logs",
        environmentVariables=[{"name": "OWN", "value": "/data"}]), "SW045", "/stdOutErrPathPrefix",
        says="is set after the directories of the results are made"),
    Bad("a level too long", toolkit("caffe2Settings", pythonScriptFilePath=f"/{'é' * 128}/a.py"),
        "SW048", "/caffe2Settings/pythonScriptFilePath", says="a level of 256 bytes"),
    Bad("half a name", job(stdOutErrPathPrefix=f"{_JOB_ROOT}/logsx"), "SW033", "/stdOutErrPathPrefix"),
    Bad("the root itself", job(stdOutErrPathPrefix=_JOB_ROOT), "SW033", "/stdOutErrPathPrefix", "warning",
        says="lost with the node"),
    Bad("the cluster's root itself", job(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/"), "SW033",
        "/stdOutErrPathPrefix", "warning"),
    Bad("outputs in the root itself", _outputs(_output(pathPrefix="${AZ_BATCHAI_JOB_MOUNT_ROOT}")), "SW033",
        "/outputDirectories/0/pathPrefix", "warning"),
    Bad("the root as a script", toolkit("caffe2Settings", pythonScriptFilePath=_JOB_ROOT), "SW033",
        "/caffe2Settings/pythonScriptFilePath", says="the mount root itself"),
    Bad("braces", job(stdOutErrPathPrefix="${AZ_BATCHAI_JOB_MOUNT_ROOT}/none"), "SW033",
        "/stdOutErrPathPrefix"),
    Bad("script on no mount", toolkit("caffe2Settings", pythonScriptFilePath=f"{_JOB_ROOT}/code/a.py"),
        "SW033",
        "/caffe2Settings/pythonScriptFilePath"),
    Bad("input on no mount", _inputs({"id": "A", "path": f"{_JOB_ROOT}/none"}), "SW033",
        "/inputDirectories/0/path"),
    Bad("output on no mount", _outputs(_output(pathPrefix=f"{_JOB_ROOT}/none")), "SW033",
        "/outputDirectories/0/pathPrefix"),
    Bad("command on no mount", _command(f"ls {_JOB_ROOT}/none/x"), "SW033", _COMMAND, "warning"),
    Bad("variable on no mount", job(environmentVariables=[{"name": "A", "value": f"{_JOB_ROOT}/none"}]),
        "SW033",
        "/environmentVariables/0/value", "warning"),
    Bad("lost with the node", job(stdOutErrPathPrefix="/tmp/logs"), "SW033", "/stdOutErrPathPrefix",
        "warning"),
    Bad("lost with the job", _outputs(_output(pathPrefix="$AZ_BATCHAI_JOB_TEMP/x")), "SW033",
        "/outputDirectories/0/pathPrefix", "warning"),
    Bad("cluster mount", job(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/afs"), "SW034",
        "/stdOutErrPathPrefix",
        "warning"),
    Bad("cluster mount written out", job(stdOutErrPathPrefix="/mnt/batch/tasks/shared/LS_root/mounts/afs"),
        "SW034", "/stdOutErrPathPrefix", "warning"),
    Bad("climbing prefix", job(stdOutErrPathPrefix=f"{_JOB_ROOT}/logs/../../x"), "SW048",
        "/stdOutErrPathPrefix"),
    Bad("climbing suffix", _outputs(_output(pathSuffix="../x")), "SW048", "/outputDirectories/0/pathSuffix"),
    Bad("absolute suffix", _outputs(_output(pathSuffix="/x")), "SW048", "/outputDirectories/0/pathSuffix"),
    Bad("climbing input", _inputs({"id": "A", "path": f"{_JOB_ROOT}/logs/.."}), "SW048",
        "/inputDirectories/0/path"),
    Bad("backslashes", toolkit("caffe2Settings", pythonScriptFilePath="code\\a.py"), "SW048",
        "/caffe2Settings/pythonScriptFilePath", says="forward"),
    Bad("line break", toolkit("caffe2Settings", pythonScriptFilePath="a.py\nrm"), "SW048",
        "/caffe2Settings/pythonScriptFilePath"),
    Bad("climbing source", mounts(fileServers=[{"fileServer": {"id": FILE_SERVER}, "relativeMountPath": "n",
        "sourceDirectory": "a/../.."}]), "SW048", "/mountVolumes/fileServers/0/sourceDirectory"),
)  # fmt: skip

NAMES = (
    *(Bad(f"id {name!r}", _inputs({"id": name, "path": f"{_JOB_ROOT}/data"}), "SW040",
        "/inputDirectories/0/id")
      for name in ("MY-DATA", "a b", "ä", "A\n", "$A")),
    Bad("endless id", _inputs({"id": "A" * 65, "path": f"{_JOB_ROOT}/data"}), "SW015",
        "/inputDirectories/0/id"),
    Bad("input id twice", _inputs(*[{"id": "A", "path": f"{_JOB_ROOT}/data"}] * 2), "SW041",
        "/inputDirectories/1/id"),
    Bad("output id twice", _outputs(_output(), _output()), "SW041", "/outputDirectories/1/id"),
    Bad("reserved id", _outputs(_output(id="stdouterr")), "SW041", "/outputDirectories/0/id"),
    *(Bad(f"variable {name!r}", _variables(name), "SW042", "/environmentVariables/0/name")
      for name in ("1A", "A-B", "A B", "A=B", "--x", "Ä", "A\n")),
    Bad("name space of the service", _variables("AZ_BATCHAI_MINE"), "SW042", "/environmentVariables/0/name",
        "warning"),
    *(Bad(f"variable of ours {name}", _variables(name), "SW042", "/environmentVariables/0/name", "warning")
      for name in ("SLIPWAY_JOB_ID", "SLIPWAY_SAVED", "SLIPWAY_AFTER_1_MODEL")),
    Bad("variable twice", _variables("A", "A"), "SW043", "/environmentVariables/1/name"),
    Bad("variable and secret", job(environmentVariables=[{"name": "A", "value": "v"}],
        secrets=[{"name": "A", "value": "v"}]), "SW043", "/secrets/0/name"),
    Bad("input never defined", _command("ls $AZ_BATCHAI_INPUT_DATA"), "SW044", _COMMAND, "warning",
        says='"DATA"'),
    Bad("output in braces never defined", _command("ls ${AZ_BATCHAI_OUTPUT_A}/x"), "SW044", _COMMAND,
        "warning"),
    Bad("input in another case", job(inputDirectories=[{"id": "data", "path": f"{_JOB_ROOT}/data"}],
        customToolkitSettings={"commandLine": "ls $AZ_BATCHAI_INPUT_DATA"}), "SW044", _COMMAND, "warning",
        says='did you mean "AZ_BATCHAI_INPUT_data"?'),
    Bad("unknown variable", _command("echo $AZ_BATCHAI_TASK_INDX"), "SW045", _COMMAND, "warning",
        says='did you mean "AZ_BATCHAI_TASK_INDEX"?'),
    Bad("account placeholder", share(accountName="<AZURE_BATCHAI_STORAGE_ACCOUNT>"), "SW046",
        f"{_SHARE}/accountName", says="AZURE_BATCHAI_STORAGE_ACCOUNT"),
    Bad("key placeholder", share(credentials={"accountKey": "x<AZURE_BATCHAI_STORAGE_KEY>"}), "SW046",
        f"{_SHARE}/credentials/accountKey", says="leave accountKey out"),
    Bad("script placeholder", toolkit("caffe2Settings", pythonScriptFilePath="<SLIPWAY_SCRIPT:*.py>"),
        "SW046",
        "/caffe2Settings/pythonScriptFilePath"),
    Bad("folder placeholder", _command("ls <SLIPWAY_FOLDER>"), "SW046", _COMMAND),
    Bad("placeholder for people", blobs(accountName="[your storage account name]"), "SW046",
        f"{_BLOBS}/accountName"),
    *(Bad(f"placeholder {text}", blobs(accountName=text), "SW046", f"{_BLOBS}/accountName")
      for text in ("[[YOUR STORAGE ACCOUNT]]", "[YOUR ACCOUNT]", "[[your_account]]", "[your-account]")),
    Bad("placeholder in an address", share(azureFileUrl="https://[[YOUR ACCOUNT]].file.core.windows.net/a"),
        "SW046", f"{_SHARE}/azureFileUrl"),
    Bad("expression of a template", _command("[concat('python ', parameters('script'))]"), "SW046", _COMMAND,
        says="ARM template"),
    Bad("expression for a number", job(nodeCount="[parameters('nodes')]"), "SW046", "/nodeCount",
        says="ARM template"),
    Bad("other placeholder", blobs(containerName="<container>"), "SW046", f"{_BLOBS}/containerName"),
    Bad("cluster by name", job(cluster={"id": "dev"}), "SW047", "/cluster/id", says='"dev"'),
    Bad("secret in plain sight", _variables("DB_PASSWORD"), "SW049", "/environmentVariables/0", "hint"),
    *(Bad(f"time {text!r}", _time(text), "SW050", "/constraints/maxWallClockTime")
      for text in ("banana", "", "P", "PT", "P1M", "P1Y", "7D", "P-1D", "PT1H ", "P1DT", "1:00")),
    *(Bad(f"time {text!r}", _time(text), "SW050", "/constraints/maxWallClockTime", says=says)
      for text, says in (
        ("PT1.5H", "has a fraction of hours; here, only seconds can have one"), ("PT1.5H", 'write "PT1H30M"'),
        ("P0.5D", 'write "PT12H"'), ("P1.5W", 'write "P10DT12H"'), ("PT1,5H", 'write "PT1H30M"'),
        ("PT0.123456H", "a fraction of hours"), ("PT2.5M", 'write "PT2M30S"'), ("PT1,5S", "a decimal comma"),
        ("P1M", "is in months, which have no fixed length"), ("P1M", 'write days, for example "P30D"'),
        ("P1Y2M", "is in years, which have no fixed length"), ("P999999999D", "more digits"),
        ("P1X", "is not an ISO 8601 duration"), ("P", "is not an ISO 8601"), ("PT", "is not an ISO 8601"),
      )),
    Bad("time of .NET", _time("7.00:00:00"), "SW050", "/constraints/maxWallClockTime", says='"P7D"'),
    *(Bad(f"time {text!r}", _time(text), "SW050", "/constraints/maxWallClockTime", says=f'"{says}"')
      for text, says in (("24h", "P1D"), ("7 days, 0:00:00", "P7D"), ("1 day, 2:03:04", "P1DT2H3M4S"),
        ("90 min", "PT1H30M"), ("2 Hours", "PT2H"), ("1d 12h", "P1DT12H"), ("pt1h", "PT1H"))),
    Bad("no limit of Batch", _time("P10675199DT2H48M5.4775807S"), "SW051", "/constraints/maxWallClockTime"),
    Bad("no time", _time("PT0S"), "SW051", "/constraints/maxWallClockTime"),
    Bad("more than a week", _time("P8D"), "SW051", "/constraints/maxWallClockTime", says="P7D"),
)  # fmt: skip

BAD_JOBS: tuple[Bad, ...] = (*SHAPE, *MISPLACED, *TOOLKITS, *MOUNTS, *FAILING, *LOOKALIKES, *PATHS, *NAMES)
