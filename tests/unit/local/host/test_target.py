"""The target of a request, as Azure's host reads it and hands it to a function."""

import pytest

from local.host.triggers.target import BadTarget, Target, target_of


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("/api/echo/a%20b+c", "/api/echo/a b+c"),
        ("/api/echo/a%2Fb%2fc", "/api/echo/a%2Fb%2fc"),
        ("/api/echo/a%252Fb", "/api/echo/a%2Fb"),
        ("/api/echo/%2541", "/api/echo/%41"),
        ("/api/%6Fnlyget", "/api/onlyget"),
        ("/api/gr%C3%BC%C3%9Fe/%F0%9F%98%80", "/api/grüße/😀"),
        ("/api/gr%FC%C3", "/api/gr%FC%C3"),
        ("/api/a%zzb%", "/api/a%zzb%"),
        ("/api/echo/x/%2e%2e/./a", "/api/echo/a"),
        ("/api/echo/..", "/api/"),
        ("/api/echo/..%2Fonlyget", "/api/echo/..%2Fonlyget"),
        ("/../../etc/passwd", "/etc/passwd"),
        ("//api//x/", "//api//x/"),
        ("/api/a#frag", "/api/a#frag"),
        ("http://127.0.0.1:80/api/a", "/api/a"),
        ("http://127.0.0.1:80", "/"),
    ],
)
def test_a_path_is_decoded_once_but_for_slashes_and_what_is_not_utf_8(raw: str, path: str) -> None:
    assert target_of(raw) == Target(path, "")


@pytest.mark.parametrize("raw", ["/api/grüße", "/api/a%00b", "/api/a?n=ü"])
def test_a_target_with_raw_letters_or_a_nul_is_refused(raw: str) -> None:
    with pytest.raises(BadTarget):
        target_of(raw)


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("a=1&a=2&A=3", {"a": "1,2,3"}),
        ("a&b=&=c&&d=1", {"": "c", "d": "1"}),
        ("a=x+y%2Bz%20w", {"a": "x y+z w"}),
        ("n=%FC&m=%zz&o=%", {"n": "%FC", "m": "%zz", "o": "%"}),
        ("a=1;b=2", {"a": "1;b=2"}),
        ("next=http://x.example/a?b=c&d", {"next": "http://x.example/a?b=c"}),
        ("", {}),
    ],
)
def test_a_query_has_no_parameter_without_a_value_and_joins_names_in_any_case(
    query: str, parameters: dict[str, str]
) -> None:
    assert target_of(f"/api/a?{query}").parameters == parameters
