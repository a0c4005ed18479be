"""Texts as people write them, the offending token between ⟦ and ⟧, and the rule that it breaks.

Together with `bad_jobs`, `lint_jobs` and the envelopes they cover all that untrusted documents can do to us:
secrets, ways out of a directory, shells, JSON's own traps, letters that deceive, and denial of wallet.
"""

from __future__ import annotations

from typing import NamedTuple

OPEN, CLOSE = "\u27e6", "\u27e7"


class Text(NamedTuple):
    """A marked text; what it breaks first, and whether that is certainly mended."""

    code: str
    marked: str
    mended: bool = False

    @property
    def text(self) -> str:
        return self.marked.replace(OPEN, "").replace(CLOSE, "")

    @property
    def token(self) -> tuple[int, int]:
        """From and to, in the text without its marks."""
        start = self.marked.index(OPEN)
        return start, self.marked.index(CLOSE) - 1


def job(body: str) -> str:
    """A job as a person writes it, with one more line."""
    return (
        '{\n  "properties": {\n    "nodeCount": 1,\n'
        '    "customToolkitSettings": {"commandLine": "true"},\n'
        f'    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",\n    {body}\n  }}\n}}\n'
    )


def _toolkit(body: str) -> str:
    head = '{"properties": {"nodeCount": 2, "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",\n'
    return f"{head}  {body}\n}}}}"


def _script(block: str, body: str) -> str:
    """A job of a toolkit that runs a Python script."""
    return _toolkit(f'"{block}": {{"pythonScriptFilePath": "/a.py", {body}}}')


_SYNTAX = (
    Text("SW003", job('"constraints": {}⟦,⟧'), True),
    Text("SW003", '{"properties": {"a": [1, 2⟦,⟧ ]}}', True),
    Text("SW003", '{\n\t"properties": {\n\t\t"nodeCount": 1⟦,⟧\n\t}\n}', True),
    Text("SW003", '{"properties": {}⟦,⟧\r\n}\r\n', True),
    Text("SW003", '{"a": 1,⟦,⟧ "b": 2}', True),
    Text("SW003", '{"a": [1,⟦,⟧ 2]}'),
    Text("SW003", '{⟦,⟧ "b": 2}'),
    Text("SW003", '{"a": "echo ⟦\\⟧$AZ_BATCHAI_JOB_NAME"}', True),
    Text("SW003", '{"a": "echo ⟦\\⟧\'b\'"}', True),
    Text("SW003", '{"a": "echo ⟦\\⟧`b`"}', True),
    Text("SW003", '{"a": "hi⟦\\⟧!"}', True),
    Text("SW003", '{"a": "find ⟦\\⟧( -name b"}'),
    Text("SW003", '{"a": "b ⟦\\⟧& c"}'),
    *(
        Text("SW003", text.replace(mark, f"⟦{wide}⟧", 1), True)
        for text, mark, wide in (
            ('{"a": [1, 2]}', "{", "\uff5b"),
            ('{"a": [1, 2]}', "}", "\uff5d"),
            ('{"a": [1, 2]}', "[", "\uff3b"),
            ('{"a": [1, 2]}', "]", "\uff3d"),
            ('{"a": [1, 2]}', ":", "\uff1a"),
            ('{"a": [1, 2]}', ",", "\uff0c"),
            ('{"a": [1, 2]}', ",", "\u3001"),
            ('{"a": [1, 2]}', "1", "\uff11"),
            ('{"a": [1, 2]}', " ", "\u2028"),
            ('{"a": [1, 2]}', " ", "\u3164"),
            ('{"a": [1, 2]}', " ", "\u00ad"),
        )
    ),
    Text("SW003", "{⟦\uff02a\uff02⟧: 1}", True),
    Text("SW003", '{"a": 1⟦;⟧ "b": 2}', True),
    Text("SW003", '{"a": [1⟦;⟧ 2]}'),
    Text("SW003", '{"a": ""⟦"⟧x"""}'),
    Text("SW003", '{"a": "echo "⟦h⟧i""}'),
    Text("SW003", '{"a": 1⟦]⟧}'),
    Text("SW003", '{"a": [{⟦]⟧}'),
    Text("SW003", "{⟦1⟧: 2}"),
    Text("SW003", '{"a": [1 ⟦2⟧]}'),
    Text("SW003", '{"a" ⟦{⟧"b": 1}}', True),
    Text("SW003", "⟦p⟧roperties:\n  nodeCount: 1\n"),
    Text("SW003", "⟦<⟧html></html>"),
    Text("SW003", job('"constraints": {} ⟦//⟧ later'), True),
    Text("SW003", '⟦//⟧ a job\n{"properties": {}}', True),
    Text("SW003", '{"properties": {⟦/*⟧ all */}}', True),
    Text("SW003", '{"properties": {⟦/*⟧ a\n * b\n */ "nodeCount": 1}}', True),
    Text("SW003", '{"properties": {⟦/*⟧ never closed }}'),
    Text("SW003", '⟦#⟧ a job\n{"properties": {}}', True),
    Text("SW003", "{⟦'properties'⟧: {}}", True),
    Text("SW003", "{\"a\": ⟦'b c'⟧}", True),
    Text("SW003", "{\"a\": ⟦'⟧it's'}"),
    Text("SW003", '{"a": ⟦\'⟧b}'),
    Text("SW003", "{\u27e6\u201cproperties\u201d\u27e7: {}}", True),
    Text("SW003", '{"a": \u27e6\u201eb\u201c\u27e7}', True),
    Text("SW003", "{⟦properties⟧: {}}", True),
    Text("SW003", '{"a": 1, ⟦nodeCount⟧: 2}', True),
    Text("SW003", '{"a": ⟦high⟧}'),
    Text("SW003", '{"a": ⟦True⟧}', True),
    Text("SW003", '{"a": [⟦False⟧, 1]}', True),
    Text("SW003", '{"a": ⟦None⟧, "b": 1}', True),
    Text("SW003", '{"a": ⟦undefined⟧}', True),
    Text("SW003", '{"a" ⟦=⟧ "b"}', True),
    Text("SW003", '{"a" ⟦=⟧> "b"}', False),
    Text("SW003", '{"properties": {"nodeCount": 1⟦\n⟧"constraints": {}}}', True),
    Text("SW003", '{"a": "b"⟦ ⟧"c": 1}', True),
    Text("SW003", '{"x": [{"a": 1}⟦ ⟧"b"]}', True),
    Text("SW003", '{"a": [1 ⟦2⟧]}'),
    Text("SW003", '{"a"⟦ ⟧"b"}', True),
    Text("SW003", '{"a" ⟦1⟧}'),
    Text("SW003", '{"a": "C:⟦\\⟧Users"}'),
    Text("SW003", '{"a": "b⟦\n⟧c"}'),
    Text("SW003", '{"a": "b⟦\t⟧c"}', True),
    Text("SW003", '{"a": "b⟦\x01⟧c"}'),
    Text("SW003", '{"a": ⟦"⟧b}'),
    Text("SW003", '{"a": ⟦}⟧'),
    Text("SW003", '{"a": ⟦+1⟧}'),
    Text("SW003", '{"a": ⟦.5⟧}'),
    Text("SW003", '{"a": ⟦01⟧}'),
    Text("SW003", '{"a": ⟦1.⟧}'),
    Text("SW003", '{"a": ⟦0x10⟧}'),
    Text("SW003", '{"properties": {"nodeCount": 1}⟦⟧'),
    Text("SW003", '{"properties": [1, 2⟦⟧\n'),
    Text("SW003", '{"a": 1} ⟦}⟧'),
    Text("SW003", '{"a": 1}\n⟦{⟧"b": 2}'),
    Text("SW003", "⟦p⟧roperties:\n  nodeCount: 1\n"),
    Text("SW003", "⟦-⟧--\nproperties: {}\n"),
    Text("SW003", "⟦<⟧job/>"),
    Text("SW003", "⟦⟧"),
    Text("SW003", "⟦ ⟧\n\t"),
    Text("SW003", "⟦[⟧properties]\nnodeCount = 1\n".replace("⟦[⟧properties", "[⟦p⟧roperties")),
    Text("SW003", "⟦P⟧K\u0003\u0004\u0014"),
    Text("SW004", '{"a": ' + "[" * 63 + "⟦[⟧" + "]" * 64 + "}"),
)

_VALUES = (
    Text("SW005", job('"constraints": {}, ⟦"constraints"⟧: {}'), True),
    Text("SW005", '{"properties": {"nodeCount": 1, "x": {}, ⟦"nodeCount"⟧: 500}}'),
    Text("SW005", '{"properties": {"nodeCount": 1, ⟦"\\u006eodeCount"⟧: 1}}', True),
    Text("SW006", '{"properties": {"nodeCount": ⟦NaN⟧}}'),
    Text("SW006", '{"properties": {"nodeCount": ⟦-Infinity⟧}}'),
    Text("SW006", '{"properties": {"nodeCount": ⟦1e999⟧}}'),
    Text("SW006", '{"properties": {"nodeCount":\n⟦' + "9" * 40 + "⟧}}"),
    Text("SW007", '{"properties": {"a": ⟦"b\\u0000"⟧}}'),
    Text("SW007", '{"properties": {⟦"a\\ud800"⟧: 1}}'),
    Text("SW007", job('"jobPreparation": {"commandLine": "echo ⟦\\u202e⟧"}')),
    Text("SW007", job('"jobPreparation": {"commandLine": "⟦\u200b⟧echo"}'), True),
    Text("SW007", job('⟦"a\\u202eb"⟧: 1')),
    Text("SW008", "⟦[⟧1, 2]"),
    Text("SW008", ' ⟦"{}"⟧ '),
    Text("SW008", "\n⟦true⟧"),
    Text("SW010", '{"properties": ⟦{⟧"customToolkitSettings": {"commandLine": "true"}}}'),
    Text("SW010", job('"inputDirectories": [⟦{⟧"id": "A"}]')),
    Text("SW011", job('"inputDirectories": ⟦{⟧"id": "A", "path": "/x"}'), True),
    Text("SW011", job('"environmentVariables": ⟦{⟧"A": "b",\n      "C": "d"}'), True),
    Text("SW011", job('"secrets": ⟦"a"⟧')),
    Text("SW011", _script("chainerSettings", '"processCount": ⟦"2"⟧'), True),
    Text("SW011", _script("chainerSettings", '"processCount": ⟦2.0⟧'), True),
    Text("SW011", _script("chainerSettings", '"processCount": ⟦2.5⟧')),
    Text("SW011", _script("chainerSettings", '"processCount": ⟦"1_0"⟧')),
    Text("SW012", job('⟦"nodeCuont"⟧: 2')),
    Text("SW012", job('⟦"mountVolume"⟧: {}'), True),
    Text("SW012", job('⟦"mount_volumes"⟧: {}'), True),
    Text("SW012", job('⟦"JobPreparation"⟧: {"commandLine": "true"}'), True),
    Text("SW012", job('⟦"executionState"⟧: "queued"'), True),
    Text("SW012", job('⟦"experimentName"⟧: "digits"')),
    Text("SW012", job('⟦"priority"⟧: 5')),
    Text("SW012", job('"outputDirectories": [{"id": "A", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",'
                      ' ⟦"type"⟧: "custom"}]'), True),
    Text("SW012", job('"outputDirectories": [{"id": "A", ⟦"createNew"⟧: true,\n'
                      '      "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}]'), True),
    Text("SW012", job('"customToolkitSettings2": 1').replace('"customToolkitSettings2"',
                      '⟦"customToolkitSettings2"⟧')),
    Text("SW012", _script("chainerSettings", '⟦"masterCommandLineArgs"⟧: "x"'),
         True),
    Text("SW012", _script("horovodSettings", '⟦"process_count"⟧: 2'), True),
    Text("SW012", _script("caffe2Settings", '⟦"processCount"⟧: 2'), True),
    Text("SW012", _script("tensorFlowSettings", '⟦"commandLineArgs"⟧: "x"')),
    Text("SW012", job('"mountVolumes": {"azureFileShares": [{"relativeMountPath": "a",\n      '
                      '"azureFileUrl": "https://account.file.core.windows.net/logs",\n      '
                      '⟦"credentialsInfo"⟧: {"accountKey": "a2V5"}}]}'), True),
    Text("SW012", job('"mountVolumes": {"azureFileShares": [{"relativeMountPath": "a",\n      '
                      '"azureFileUrl": "https://account.file.core.windows.net/logs",\n      '
                      '⟦"accountkey"⟧: "a2V5"}]}')),
    Text("SW013", _script("horovodSettings", '"processCount": ⟦-1⟧')),
    Text("SW014", job('"schedulingPriority": ⟦"High"⟧'), True),
    Text("SW014", job('"schedulingPriority": ⟦"urgent"⟧')),
    Text("SW014", _script("cntkSettings", '"languageType": ⟦"Pyton"⟧'), True),
    Text("SW017", job('"containerSettings": {"imageSourceRegistry": {"image": ⟦"--privileged"⟧}}')),
    Text("SW021", job('⟦"caffeSettings"⟧: {"configFilePath": "a"}')),
    Text("SW022", _toolkit('"caffeSettings": {"configFilePath": "a", ⟦"pythonInterpreterPath"⟧: "python"}')),
    Text("SW023", _toolkit('"caffeSettings": ⟦{⟧}')),
    Text("SW023", _toolkit('"customToolkitSettings": ⟦{⟧}')),
    Text("SW030", job('"secrets": [⟦{⟧"name": "A"}]')),
    Text("SW031", job('"mountVolumes": {"azureBlobFileSystems": [{"accountName": "account",\n'
                      '"containerName": "data", "relativeMountPath": ⟦"/data"⟧}]}'), True),
    Text("SW031", job('"mountVolumes": {"azureBlobFileSystems": [{"accountName": "account",\n'
                      '"containerName": "data", "relativeMountPath": ⟦"../../etc"⟧}]}')),
    Text("SW035", job('"mountVolumes": {"azureFileShares": [{"relativeMountPath": "a",\n'
                      '"azureFileUrl": ⟦"http://account.file.core.windows.net/logs"⟧}]}'), True),
    Text("SW036", job('"mountVolumes": {"azureBlobFileSystems": [{"accountName": ⟦"Account"⟧,\n'
                      '"containerName": "data", "relativeMountPath": "data"}]}'), True),
    Text("SW036", job('"mountVolumes": {"azureBlobFileSystems": [{"accountName": "account",\n'
                      '"containerName": ⟦"Data"⟧, "relativeMountPath": "data"}]}'), True),
    Text("SW037", job('"secrets": [{"name": "A", "valueSecretReference": {"sourceVault": {"id": "'
                      '/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/keys"},\n'
                      '"secretUrl": ⟦"http://keys.vault.azure.net/secrets/a"⟧}}]'), True),
    Text("SW038", job('"mountVolumes": {"unmanagedFileSystems": [⟦{⟧"mountCommand": "mount x",\n'
                      '"relativeMountPath": "x"}]}')),
    Text("SW040", job('"inputDirectories": [{"id": ⟦"DATA "⟧, "path": "/x"}]'), True),
    Text("SW040", job('"inputDirectories": [{"id": ⟦"$(rm -rf)"⟧, "path": "/x"}]')),
    Text("SW042", job('"environmentVariables": [{"name": ⟦" A"⟧, "value": "x"}]'), True),
    Text("SW042", job('"environmentVariables": [{"name": ⟦"A;rm"⟧, "value": "x"}]')),
    Text("SW043", job('"environmentVariables": [{"name": "A", "value": "x"},\n'
                      '{"name": ⟦"A"⟧, "value": "y"}]')),
    Text("SW044", job('"jobPreparation": {"commandLine": "ls \\"$⟦AZ_BATCHAI_INPUT_X⟧\\" $HOME"}')),
    Text("SW044", job('"jobPreparation": {"commandLine": "\\u0065cho ${⟦AZ_BATCHAI_OUTPUT_X⟧}"}')),
    Text("SW045", job('"jobPreparation": {"commandLine": "echo $⟦AZ_BATCHAI_RANK⟧"}')),
    Text("SW046", job('"mountVolumes": {"azureBlobFileSystems": [{"accountName": "⟦[your account]⟧",\n'
                      '"containerName": "data", "relativeMountPath": "data"}]}')),
    Text("SW046", job('"mountVolumes": {"azureBlobFileSystems": [{"accountName": "account",\n'
                      '"containerName": "⟦%s⟧", "relativeMountPath": "data"}]}')),
    Text("SW046", job('"inputDirectories": [{"id": "A", "path": "/data/⟦{{ name }}⟧"}]')),
    Text("SW046", job('"jobPreparation": {"commandLine": "⟦%s⟧"}')),
    Text("SW046", _toolkit('"caffeSettings": {"configFilePath": "/x/⟦%(model)s⟧"}')),
    Text("SW047", job('"cluster": ⟦"dev cluster"⟧')),
    Text("SW048", job('"outputDirectories": [{"id": "A", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",\n'
                      '"pathSuffix": ⟦"/models"⟧}]'), True),
    Text("SW048", job('"outputDirectories": [{"id": "A", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",\n'
                      '"pathSuffix": ⟦"../../x"⟧}]')),
    Text("SW048", _toolkit('"caffeSettings": {"configFilePath": ⟦"models\\\\a.prototxt"⟧}'), True),
    Text("SW049", job('"environmentVariables": [⟦{⟧"name": "API_KEY", "value": "abc"}]')),
    Text("SW050", job('"constraints": {"maxWallClockTime": ⟦"1.00:00:00"⟧}'), True),
    Text("SW050", job('"constraints": {"maxWallClockTime": ⟦"pt4h"⟧}'), True),
    Text("SW050", job('"constraints": {"maxWallClockTime": ⟦"banana"⟧}')),
    Text("SW051", job('"constraints": {"maxWallClockTime": ⟦"P999D"⟧}')),
    Text("SW072", job('"containerSettings": {"imageSourceRegistry": {"image": ⟦"ubuntu"⟧}}')),
)  # fmt: skip

_MESSAGES = (
    Text("SW012", '{"spec": {},\n ⟦"lables"⟧: {}}', True),
    Text("SW060", '⟦{⟧"name": "a", "notify": []}'),
    Text("SW061", '{"name": ⟦"a b"⟧, "spec": {}}'),
    Text("SW062", '{"spec": {}, "labels": {⟦"a b"⟧: "c"}}'),
    Text("SW064", '{"spec": {}, "notify": [{"url": ⟦"ftp://host"⟧}]}'),
    Text("SW065", '{"specBlob": ⟦"../x"⟧}'),
    Text("SW065", '{"spec": {}, ⟦"needs"⟧: ["a.csv"]}'),
    Text("SW066", '{"spec": {}, "notify": [{"url": "https://host/", "secret": ⟦"a b c"⟧}]}'),
    Text("SW067", '{"spec": {}, "resources": {"memory": ⟦"16 GB"⟧}}'),
    Text("SW068", '{"spec": {}, "after": [⟦"a b"⟧]}'),
    Text("SW090", '{"spec": {}, "code": {"sha256": ⟦"9F2C"⟧}}'),
    Text("SW013", '{"name": "a",\n "spec": {"properties": {"nodeCount": ⟦0⟧,\n  "customToolkitSettings":'
                  ' {"commandLine": "true"}}}}'),
)  # fmt: skip

TEXTS: tuple[Text, ...] = (*_SYNTAX, *_VALUES, *_MESSAGES)
