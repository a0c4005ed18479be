"""The storage account of the nodes."""

import pytest

from local.nodes.settings import SettingsError, account


def test_the_account_is_read_from_a_connection_string_and_its_key_never_shown() -> None:
    result = account("AccountName=a;AccountKey=secret==;BlobEndpoint=http://h/a/")

    assert (result.name, result.key, result.blob_endpoint) == ("a", "secret==", "http://h/a")
    assert "secret" not in repr(result)
    with pytest.raises(SettingsError, match="accountname"):
        account("AccountKey=secret")
