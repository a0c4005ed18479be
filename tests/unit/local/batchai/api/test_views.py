"""What an answer shows of a document."""

from local.batchai.api.views import redacted


def test_secrets_leave_no_value_behind() -> None:
    document = {
        "secrets": [{"name": "A", "value": "hidden"}],
        "deep": [{"credentials": {"accountKey": "hidden", "username": "me"}}],
        "user": {"adminUserPassword": "hidden"},
    }

    assert redacted(document) == {
        "secrets": [{"name": "A"}],
        "deep": [{"credentials": {"username": "me"}}],
        "user": {},
    }
