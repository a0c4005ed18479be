"""`storage_clients.py ACCOUNT KEY`: every storage service by its SDK, at the account's address in Azure."""

import sys
from datetime import UTC, datetime, timedelta

from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import TableServiceClient
from azure.storage.blob import BlobServiceClient
from azure.storage.fileshare import ShareFileClient, ShareServiceClient, generate_share_sas
from azure.storage.queue import QueueClient

CONTENT = bytes(range(256)) * 40_000


def main(account: str, key: str) -> None:
    """Write something, read it again, and delete it."""
    credential = {"account_name": account, "account_key": key}
    address = f"https://{account}.%s.core.windows.net"

    container = BlobServiceClient(address % "blob", credential).create_container("by-proxy")
    container.upload_blob("a/b c.bin", CONTENT, max_concurrency=2)
    assert container.download_blob("a/b c.bin").readall() == CONTENT
    assert [one.name for one in container.list_blobs()] == ["a/b c.bin"]
    container.delete_container()

    # The name is that of a route of the emulator.
    share = ShareServiceClient(address % "file", credential).create_share("subscriptions")
    share.create_directory("my scripts").upload_file("a+b.py", CONTENT)
    assert share.get_file_client("my scripts/a+b.py").download_file().readall() == CONTENT
    assert [one.name for one in share.list_directories_and_files("my scripts")] == ["a+b.py"]
    end = datetime.now(UTC) + timedelta(hours=1)
    token = generate_share_sas(account, "subscriptions", key, permission="r", expiry=end, protocol="https")
    signed = ShareFileClient(address % "file", "subscriptions", "my scripts/a+b.py", credential=token)
    assert signed.download_file().readall() == CONTENT
    share.delete_share()

    queue = QueueClient(address % "queue", "by-proxy", credential=credential)
    queue.create_queue()
    queue.send_message("hello")
    assert [message.content for message in queue.receive_messages()] == ["hello"]
    queue.delete_queue()

    tables = TableServiceClient(address % "table", credential=AzureNamedKeyCredential(account, key))
    tables.create_table("byproxy").create_entity({"PartitionKey": "p", "RowKey": "r", "value": 1})
    assert tables.get_table_client("byproxy").get_entity("p", "r")["value"] == 1
    tables.delete_table("byproxy")


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.write("done\n")
