"""Names of scripts that people give, and that a shell or a request could misread."""

from __future__ import annotations

#: Names that run through every field that holds a path.
NAMES = (
    *(
        "ok.py",
        "my train.py",
        "entraîner.py",
        "entrai\u0302ner.py",
        "tr#ain.py",
        "a+b.py",
        "a@b.py",
        "it's.py",
    ),
    *(
        "a,b.py",
        "a=b.py",
        "a:b.py",
        "a(1).py",
        "train (copy).py",
        "訓練.py",
        "a~b.py",
        "100%.py",
        "a&b.py",
        "a;b.py",
    ),
    *(
        "a[1].py",
        "Ünder.py",
        "naïve/x.py",
        'say "hi".py',
        "a*b?.py",
        "a{1,2}.py",
        "~.py",
        "-c.py",
        "a`id`.py",
    ),
    *(
        "p%2Fq%20.py",
        " lead.py",
        "\U0001f469\u200d\U0001f52c.py",
        "\u0645\u06cc\u200c\u062e.py",
        "a|b.py",
        "😀.py",
    ),
)
#: Names that run, with a warning of a blank that only looks like a space.
WARNED = {"my\u00a0train.py": "U+00A0", "学習\u3000一.py": "U+3000", "1.00\u202fPM.py": "U+202F"}
#: Names that a job cannot have, and what its record says of them.
REFUSED = {
    "tr\u0430in.py": "U+0430",
    "co\u00adop.py": "U+00AD",
    "a\u200bb.py": "U+200B",
    "a\\b.py": "backslash",
    "a\tb.py": "U+0009",
    "a\uffffb.py": "U+FFFF",
}
#: Names that are refused in a template only: the author of a job.json may mean a variable or a placeholder.
ONLY_OF_TEMPLATES = {"tr$USER.py": "U+0024", "<a>.py": "U+003C", "100%s.py": "U+0025", "{{ x }}.py": "U+007B"}
