"""The names that people and their programs give to files and folders: one corpus for every door.

Each file of `TREE` holds its own path, so that a test compares bytes and sees whose they are. Names that an
address, a query or a shell would read as something else stand beside the name that it would make of them.
"""

from __future__ import annotations

import base64
import json
import unicodedata
import zlib
from collections.abc import Collection, Iterable, Mapping

#: What the kind of name is → names of one file or folder.
NAMES: Mapping[str, tuple[str, ...]] = {
    "plain": ("plain",),
    "reserved in queries": ("lr=0.1&wd=0", "lr=0.1", "a&api-version=1", "a&directory=.", "a=b;c", "a;b"),
    "plus, and the space that it is in forms": ("lr=1+2", "lr=1 2", "+", "a++b"),
    "ends of paths and queries": ("a#b", "a?b", "a?b#c", "q?path=.", "#", "?"),
    "reserved in paths": ("a:b", "a@b", "a$b", "a,b", "a!b", "a*b", "a~b", "~", "a|b", "a^b", "<a>", "c:"),
    "escapes, and what they stand for": ("a%20b", "a b", "a%2Bb", "a+b", "a%26b", "a&b", "%C3%A9", "a%2520b"),
    "escapes that lead elsewhere": (
        "%2e%2e",
        "%2E%2E",
        "%2e",
        "%2F",
        "a%2Fb",
        "%5C",
        "%00",
        "%252F",
        "%252e",
    ),
    "percent signs that are not escapes": ("%", "%%", "100%", "%zz", "%u00e9", "50% off", "%FF"),
    "spaces": (" ", " lead", "trail ", "two  spaces", "  "),
    "dots": (".hidden", "..data", "...", "trail.", "a..b", ".a.", "dots..."),
    "dashes": ("-rf", "--help", "-", "--to=x"),
    "quotes": ("it's", "it''s", 'say "hi"', "a`id`b", "''"),
    "brackets": ("[1]", "a[b-c]", "{a,b}", "{0}", "train (copy)", "${HOME}", "$(id)"),
    "patterns": ("*", "**", "a?", "[!a]"),
    "words that systems keep for themselves": ("CON", "nul.txt", "web.config", "null", "true", "index.html"),
    "letters": ("ünï", "実験", "обучение", "ελ", "مدل"),
    "spaces of other scripts": ("my\u00a0project", "1.00\u202fPM", "学習\u3000一", "thin\u2009space"),
    "joiners": ("می\u200cخو\u0627\u0647م", "\U0001f469\u200d\U0001f52c", "क्\u200dष"),
    "letters without width": ("co\u00adop", "\u200fright"),
    "private and new letters": ("\uf025", "\U0001fadc"),
    "emoji": ("\U0001f680", "❤\ufe0f", "\U0001f1e9\U0001f1ea", "👍🏽"),
    "forms of a letter": ("caf\u00e9", "cafe\u0301", "\u212b", "\u00c5", "\uff46\uff55\uff4c\uff4c"),
    "case": ("Case", "case", "CASE", "straße", "STRASSE", "\u0131", "i"),
    "long": ("x" * 255, "\U0001f600" * 63 + "abc", "é" * 127),
}

#: Names that no door gives out, by the reason that each says.
REFUSED: Mapping[str, tuple[str, ...]] = {
    "backslash": ("a\\b", "..\\up", "tail\\"),
    "controls": ("line\nbreak", "tab\there", "bell\x07", "next\x85"),
    "hiding": ("zero\u200bwidth", "\ufeffmark", "line\u2028end", "over\u202eride", "\u2066i"),
}

#: Paths whose length is the matter; each part is a name of its own.
DEEP = (
    "/".join(f"level-{n:02}" for n in range(28)) + "/end.txt",
    "/".join("深い" * 9 + f"{n}" for n in range(12)) + "/終.txt",
)


def each(kinds: Mapping[str, Iterable[str]] = NAMES) -> list[str]:
    """Every name, once."""
    return list(dict.fromkeys(name for names in kinds.values() for name in names))


def kind_of(name: str) -> str:
    """The kind of a name of the corpus."""
    return next(kind for kind, names in NAMES.items() if name in names)


def tree(names: Collection[str], deep: Iterable[str] = ()) -> dict[str, bytes]:
    """Path → content, which is the path: each name as that of a file, and as that of a folder."""
    paths = [*(f"files/{name}" for name in names), *(f"folders/{name}/f.txt" for name in names), *deep]
    return {path: path.encode() for path in paths}


#: Every file of the corpus that has to come back.
TREE = tree(each(), DEEP)


def writes(files: Mapping[str, bytes], variable: str = "AZ_BATCHAI_OUTPUT_MODEL") -> str:
    """A command line that writes these files into a directory that a variable of the job names."""
    text = json.dumps({path: content.decode() for path, content in files.items()})
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    program = (
        "import base64,json,os,pathlib,zlib\n"
        f'for path,text in json.loads(zlib.decompress(base64.b64decode("{packed}"))).items():\n'
        f'    file=pathlib.Path(os.environ["{variable}"],path)\n'
        "    file.parent.mkdir(parents=True,exist_ok=True)\n"
        "    file.write_bytes(text.encode())\n"
    )
    return f"python3 -c '{program}'"


def no_blob(path: str) -> str:
    """Why no blob can have the path below the folders of a job; "" if one can."""
    if len(path) > 900:
        return "a blob's name has at most 1024 characters, with the folders of its job"
    if any(part.endswith(".") for part in path.split("/")):
        return "storage drops a dot at the end of a name"
    refused = next((name for name in each(REFUSED) if name in path), "")
    character = next((one for one in refused if one == "\\" or not one.isprintable()), "")
    return f"no name in storage has the character {character!a}" if refused else ""


def alike(names: Iterable[str]) -> set[frozenset[str]]:
    """The groups of names that a disk which ignores case and composition takes for one."""
    groups: dict[str, set[str]] = {}
    for name in names:
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
        groups.setdefault(folded, set()).add(name)
    return {frozenset(group) for group in groups.values() if len(group) > 1}
