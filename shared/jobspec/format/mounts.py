"""File systems that a job mounts, and the credentials for them."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from shared.jobspec.format.base import Items, Model, Text

MountPath: TypeAlias = Annotated[
    Text, Field(description="Where it appears, below $AZ_BATCHAI_JOB_MOUNT_ROOT", max_length=256)
]
AccountName: TypeAlias = Annotated[Text, Field(description="Name of the storage account")]
FileMode: TypeAlias = Annotated[str, Field(description="Octal mode, 0777 if absent")]


class ResourceId(Model):
    """A reference to an Azure resource."""

    id: Annotated[Text, Field(description="Full ARM id, /subscriptions/…")]


class KeyVaultSecretReference(Model):
    """A secret that stays in Key Vault."""

    source_vault: ResourceId
    secret_url: Annotated[Text, Field(description="https://VAULT.vault.azure.net/secrets/NAME")]


class StorageCredentials(Model):
    """The account's key or a reference to it; filled in at submission when a job names neither."""

    account_key: Annotated[Text | None, Field(description="Key of the account", repr=False)] = None
    account_key_secret_reference: KeyVaultSecretReference | None = None


class AzureFileShare(Model):
    """A share of Azure Files that the nodes of a job mount."""

    account_name: AccountName
    azure_file_url: Annotated[Text, Field(description="https://ACCOUNT.file.core.windows.net/SHARE")]
    credentials: StorageCredentials | None = None
    relative_mount_path: MountPath
    file_mode: FileMode | None = None
    directory_mode: FileMode | None = None


class AzureBlobFileSystem(Model):
    """A blob container, mounted by blobfuse."""

    account_name: AccountName
    container_name: Annotated[Text, Field(description="Name of the blob container")]
    credentials: StorageCredentials | None = None
    relative_mount_path: MountPath
    mount_options: Annotated[str, Field(description="Options of blobfuse")] | None = None


class FileServer(Model):
    """A Batch AI file server (NFS)."""

    file_server: ResourceId
    relative_mount_path: MountPath
    source_directory: Annotated[str, Field(description="Directory of the server; all if absent")] | None = (
        None
    )
    mount_options: Annotated[str, Field(description="Options of mount, for example rw,nolock")] | None = None


class UnmanagedFileSystem(Model):
    """A mount command of the user's own; the service appends the mount path."""

    mount_command: Annotated[Text, Field(description="Command line, run as root on each node")]
    relative_mount_path: MountPath


_Shares: TypeAlias = Annotated[Items[AzureFileShare], Field(description="Shares of Azure Files")]
_Blobs: TypeAlias = Annotated[Items[AzureBlobFileSystem], Field(description="Blob containers")]
_Servers: TypeAlias = Annotated[Items[FileServer], Field(description="Batch AI file servers")]
_Unmanaged: TypeAlias = Annotated[
    Items[UnmanagedFileSystem], Field(description="Mount commands, where the operator allows them")
]


class MountVolumes(Model):
    """Everything that a job mounts for itself, under $AZ_BATCHAI_JOB_MOUNT_ROOT."""

    azure_file_shares: _Shares | None = None
    azure_blob_file_systems: _Blobs | None = None
    file_servers: _Servers | None = None
    unmanaged_file_systems: _Unmanaged | None = None


#: Wire names of the lists of mounts; those with an account can have their credentials filled in.
MOUNT_LISTS = ("azureFileShares", "azureBlobFileSystems", "fileServers", "unmanagedFileSystems")
ACCOUNT_MOUNT_LISTS = ("azureFileShares", "azureBlobFileSystems")
