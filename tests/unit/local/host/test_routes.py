"""Route templates of HTTP triggers."""

import pytest

from local.host.routes import parse_route


@pytest.mark.parametrize(
    ("template", "path", "values"),
    [
        ("jobs", "jobs", {}),
        ("jobs", "JOBS", {}),
        ("jobs", "jobs/1", None),
        ("jobs/{id}", "jobs/a%2Fb", {"id": "a%2Fb"}),
        ("jobs/{id}", "jobs/a/", {"id": "a"}),
        ("jobs/{id}", "jobs//a", None),
        ("jobs/{id}", "/jobs/a", None),
        ("jobs/{id}", "jobs", None),
        ("jobs/{id?}", "jobs", {}),
        ("jobs/{id=7}", "jobs", {"id": "7"}),
        ("jobs/{id:int}", "jobs/12", {"id": "12"}),
        ("jobs/{id:int}", "jobs/12x", None),
        ("jobs/{id:int}", "jobs/ +07", {"id": " +07"}),
        ("jobs/{id:int}", "jobs/\u0667", None),
        ("jobs/{id:int?}", "jobs", {}),
        (
            "jobs/{id:guid}",
            "jobs/0f8fad5b-d9cb-469f-a165-70867728950e",
            {"id": "0f8fad5b-d9cb-469f-a165-70867728950e"},
        ),
        ("jobs/{id:guid}", "jobs/nothing", None),
        ("jobs/{n:range(1,3)}", "jobs/3", {"n": "3"}),
        ("jobs/{n:range(1,3)}", "jobs/4", None),
        ("jobs/{n:length(2)}", "jobs/ab", {"n": "ab"}),
        ("jobs/{n:minlength(2):alpha}", "jobs/a", None),
        ("files/{*path}", "files/a/b.txt", {"path": "a/b.txt"}),
        ("files/{*path}", "files/a\nb", {"path": "a\nb"}),
        ("files/{*path}", "files", {}),
        ("files/{*path}", "files/", {}),
        ("files/{*path}", "files/a/", {"path": "a/"}),
        ("files/{*path}", "files/a//b", None),
        ("files/{name}.{ext}", "files/a.b.txt", {"name": "a.b", "ext": "txt"}),
        ("{x:bool}/{y:double}", "true/1.5", {"x": "true", "y": "1.5"}),
        ("a.b/{c}", "axb/1", None),
    ],
)
def test_a_template_matches_paths(template: str, path: str, values: dict[str, str] | None) -> None:
    assert parse_route(template).match(path) == values


@pytest.mark.parametrize("template", ["a/{b", "a/b}", "{*all}/b", "{x:color}", "{x:min(a)}"])
def test_a_template_with_a_mistake_is_refused_and_shown(template: str) -> None:
    with pytest.raises(ValueError, match="route"):
        parse_route(template)
