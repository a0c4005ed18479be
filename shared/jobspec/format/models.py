"""The whole of Batch AI's JobCreateParameters, API 2018-05-01."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from shared.jobspec.format.base import Count, Items, Model, Text
from shared.jobspec.format.mounts import KeyVaultSecretReference, MountVolumes, ResourceId
from shared.jobspec.format.toolkits import (
    Caffe2Settings,
    CaffeSettings,
    ChainerSettings,
    CntkSettings,
    CustomMpiSettings,
    CustomToolkitSettings,
    HorovodSettings,
    PyTorchSettings,
    TensorFlowSettings,
)
from shared.jobspec.text.tree import JsonObject

DirectoryId: TypeAlias = Annotated[Text, Field(description="Suffix of the variable", max_length=64)]
Priority: TypeAlias = Annotated[
    Literal["low", "normal", "high"],
    Field(description="Priority in the queue of the cluster; normal if absent"),
]
VariableName: TypeAlias = Annotated[
    str, Field(description="Name of the variable", min_length=1, max_length=256)
]


class RegistryCredentials(Model):
    """Log-in to a private registry."""

    username: Annotated[Text, Field(description="Name of the user")]
    password: Annotated[Text | None, Field(description="Sealed, and never shown", repr=False)] = None
    password_secret_reference: KeyVaultSecretReference | None = None


class ImageSourceRegistry(Model):
    """An image and where it comes from."""

    image: Annotated[Text, Field(description="Name with tag, and with the host of a private registry")]
    server_url: Annotated[Text, Field(description="Registry; Docker Hub if absent")] | None = None
    credentials: RegistryCredentials | None = None


class ContainerSettings(Model):
    """The container that the job runs in; without it, it runs on the node itself."""

    image_source_registry: ImageSourceRegistry
    shm_size: Annotated[Text, Field(description="Size of /dev/shm, for example 256m or 2g")] | None = None


class JobPreparation(Model):
    """A command that runs on each node before the toolkit starts."""

    command_line: Annotated[Text, Field(description="Shell command line, run where the job runs")]


class InputDirectory(Model):
    """A directory that the job finds in $AZ_BATCHAI_INPUT_<id>."""

    id: DirectoryId
    path: Annotated[Text, Field(description="Path on a mount, or on the node")]


class OutputDirectory(Model):
    """A directory that is made for the job, in $AZ_BATCHAI_OUTPUT_<id>."""

    id: DirectoryId
    path_prefix: Annotated[Text, Field(description="Path on a mount")]
    path_suffix: Annotated[str, Field(description="Last levels of the path")] | None = None


class EnvironmentVariable(Model):
    """A variable of the job; its value may use $AZ_BATCHAI_ variables."""

    name: VariableName
    value: Annotated[str, Field(description="May use $AZ_BATCHAI_ variables")]


class SecretVariable(Model):
    """A variable whose value is never shown again."""

    name: VariableName
    value: Annotated[str | None, Field(description="Sealed, and never shown", repr=False)] = None
    value_secret_reference: KeyVaultSecretReference | None = None


_Inputs: TypeAlias = Annotated[
    Items[InputDirectory], Field(description="Directories that the job finds in $AZ_BATCHAI_INPUT_<id>")
]
_Outputs: TypeAlias = Annotated[
    Items[OutputDirectory],
    Field(description="Directories that are made for the job, in $AZ_BATCHAI_OUTPUT_<id>"),
]
_Variables: TypeAlias = Annotated[
    Items[EnvironmentVariable], Field(description="Variables of the job, shown to everyone who sees it")
]
_Secrets: TypeAlias = Annotated[
    Items[SecretVariable], Field(description="Variables whose values are sealed and masked")
]


class Constraints(Model):
    """Limits of one job."""

    max_wall_clock_time: Annotated[str, Field(description="ISO 8601 duration; P7D if absent")] | None = None


class JobProperties(Model):
    """What to run, on how many nodes, with which files."""

    cluster: ResourceId
    node_count: Annotated[Count, Field(description="Nodes; all start together or none")]
    std_out_err_path_prefix: Annotated[Text, Field(description="Where stdout, stderr and the log are kept")]
    scheduling_priority: Priority | None = None
    mount_volumes: MountVolumes | None = None
    container_settings: ContainerSettings | None = None
    cntk_settings: CntkSettings | None = None
    py_torch_settings: PyTorchSettings | None = None
    tensor_flow_settings: TensorFlowSettings | None = None
    caffe_settings: CaffeSettings | None = None
    caffe2_settings: Caffe2Settings | None = None
    chainer_settings: ChainerSettings | None = None
    custom_toolkit_settings: CustomToolkitSettings | None = None
    custom_mpi_settings: CustomMpiSettings | None = None
    horovod_settings: HorovodSettings | None = None
    job_preparation: JobPreparation | None = None
    input_directories: _Inputs | None = None
    output_directories: _Outputs | None = None
    environment_variables: _Variables | None = None
    secrets: _Secrets | None = None
    constraints: Constraints | None = None
    tool_type: Annotated[str | None, Field(description="Ignored: the toolkit block decides")] = None


#: Every property of a job, by its wire name.
JOB_PROPERTIES = frozenset(str(field.alias) for field in JobProperties.model_fields.values())


class JobSpec(Model):
    """A validated job.json. Only `validate` makes one that obeys all rules."""

    schema_url: Annotated[str | None, Field(alias="$schema", description="Ignored")] = None
    properties: JobProperties

    def document(self) -> JsonObject:
        """The wire form: what was written, without nulls, $schema and toolType."""
        return self.model_dump(
            mode="json",
            by_alias=True,
            exclude_none=True,
            exclude={"schema_url": True, "properties": {"tool_type"}},
        )
