"""What of a text is taken for a secret, and what is not; sealed, it opens to the same bytes."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.jobspec import SEALED, open_secrets, seal_secrets
from shared.jobspec.secrets.embedded import ranges_to_seal, recognised, without_embedded
from tests.breadth import examples
from tests.login_shapes import PROSE
from tests.secret_shapes import ORDINARY, SHAPES
from tests.unit.jobspec.jobs import job


def test_secrets_are_recognised_by_name_and_by_shape() -> None:
    shown = [what for what, text, secret in SHAPES if secret in without_embedded(text)]

    assert shown == []
    assert [what for what, text, _ in SHAPES if not list(recognised(text))] == []


@pytest.mark.parametrize("around", ["cd /data && {} ", "bash -c 'true; {}'", "true\n{}\ntrue", "(\t{}\t)"])
def test_they_are_recognised_among_other_words(around: str) -> None:
    texts = [(what, around.format(text.replace("'", '"')), secret) for what, text, secret in SHAPES]

    assert [what for what, text, secret in texts if secret in without_embedded(text)] == []


def test_variables_and_ordinary_words_are_shown_as_they_are() -> None:
    assert [text for text in ORDINARY if without_embedded(text) != text] == []


def test_sentences_about_secrets_are_shown_as_they_are() -> None:
    assert [text for text in PROSE if without_embedded(text) != text] == []


def test_a_quoted_sentence_may_be_a_password() -> None:
    assert without_embedded('tool --password "the one of mine"') == 'tool --password "***"'
    assert without_embedded("password: a.b1c2") == "password: ***"


def test_what_was_masked_once_stays_as_it_is() -> None:
    once = [without_embedded(text) for _, text, _ in SHAPES]

    assert [without_embedded(text) for text in once] == once


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        *(
            "> token ",
            "tee token ",
            "login <<< $x ",
            "<< a login ",
            "login < <(echo x ",
            "| printf %s %s | login ",
        ),
        *(
            "--auth x ",
            "x-auth: ",
            "create secret SECRET ",
            '{"username":"u","key":"x"} ',
            '{"key": "x"',
            "echo $(echo ",
        ),
    ],
)
def test_a_long_text_of_one_piece_is_masked_in_time_that_grows_with_its_length(piece: str) -> None:
    """A search that began anew at each piece would take minutes here, where it takes a moment."""
    short, long = (without_embedded(piece * (size // len(piece))) for size in (2_000, 200_000))

    assert long[:1_000] == short[:1_000]


def _seal(at: str, value: str) -> str:
    return SEALED + urlsafe_b64encode(f"{at}|{value}".encode("utf-8", "surrogatepass")).decode()


def _open(at: str, text: str) -> str:
    place, _, value = (
        urlsafe_b64decode(text.removeprefix(SEALED)).decode("utf-8", "surrogatepass").partition("|")
    )
    assert place == at
    return value


_PIECES = st.sampled_from(
    [
        *(text for _, text, _ in SHAPES),
        *(secret for _, _, secret in SHAPES),
        *ORDINARY,
        *(
            "token=",
            "--password ",
            "-p",
            "mysql ",
            "curl -u ",
            "a:b",
            "://",
            "@",
            "?",
            "=",
            "==",
            "_",
            "-",
            ":",
            '"',
        ),
        *(
            "'",
            "\\",
            "$",
            " ",
            "\n",
            ";",
            "x",
            "ä",
            "\u2028",
            "sealed:v1:",
            "sealed:",
            "v1:",
            "/",
            "A" * 40,
            "***",
        ),
        *(
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----END RSA PRIVATE KEY-----",
            "Authorization: ",
            "Bearer ",
            "eyJ",
            ".",
        ),
    ]
)
_TEXTS = st.one_of(st.lists(_PIECES, max_size=8).map("".join), st.text(max_size=40))


@given(st.lists(_TEXTS, min_size=1, max_size=3))
@example(["sealed:v1:/" + "A" * 44 + "=="])
@example(["ghp_cAnArY7c41xcAnArY7c41x-_=="])
@example(["token=x", "sealed:v1:"])
@settings(max_examples=examples(600), deadline=None)
def test_what_is_sealed_opens_to_the_same_document(texts: list[str]) -> None:
    document = job(
        customToolkitSettings={"commandLine": texts[0]},
        environmentVariables=[{"name": "A", "value": text} for text in texts],
    )

    sealed = seal_secrets(document, _seal)

    assert open_secrets(sealed, _open) == document


@given(_TEXTS, _TEXTS)
@settings(max_examples=examples(400), deadline=None)
def test_a_look_at_all_lines_together_misses_nothing_of_a_line(one: str, other: str) -> None:
    for text in (one, other):
        if ranges_to_seal(text):
            assert ranges_to_seal(f"{one}\n{other}")
