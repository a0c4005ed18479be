"""The bodies of jobs and tasks: names, types and bounds. Pure."""

from typing import Literal

from pydantic import Field

from local.azurebatch.api.bodies import LARGEST, Body, Id, Opaque, Pair, ResourceFile, Whole
from local.azurebatch.state.moment import NO_LIMIT


class JobConstraints(Body):
    """How long a job may be active, and how often its tasks are retried."""

    max_wall_clock_time: str = NO_LIMIT
    max_task_retry_count: Whole = Field(0, ge=-1, le=LARGEST)


class PoolInfo(Body):
    """The pool for the tasks of a job."""

    pool_id: str


class JobPatch(Body):
    """The members of a job that a PATCH may change."""

    priority: Whole = Field(0, ge=-1000, le=1000)
    allow_task_preemption: bool = False
    max_parallel_tasks: Whole = Field(-1, ge=-1, le=LARGEST)
    constraints: JobConstraints = JobConstraints()
    pool_info: PoolInfo | None = None
    on_all_tasks_complete: Literal["noaction", "terminatejob"] = "noaction"
    metadata: tuple[Pair, ...] = ()
    network_configuration: Opaque | None = None


class TaskConstraints(Body):
    """How long a task may run, how often it is retried, and how long its files stay."""

    max_wall_clock_time: str = NO_LIMIT
    retention_time: str = "P7D"
    max_task_retry_count: Whole | None = Field(None, ge=-1, le=LARGEST)


class Preparation(Body):
    """The command that runs on a node before the first task of the job there."""

    id: Id = "jobpreparation"
    command_line: str
    resource_files: tuple[ResourceFile, ...] = ()
    environment_settings: tuple[Pair, ...] = ()
    constraints: TaskConstraints = TaskConstraints()
    wait_for_success: bool = True
    user_identity: Opaque | None = None
    rerun_on_node_reboot_after_success: bool = True


class Release(Body):
    """The command that runs on each prepared node when the job ends."""

    id: Id = "jobrelease"
    command_line: str
    resource_files: tuple[ResourceFile, ...] = ()
    environment_settings: tuple[Pair, ...] = ()
    max_wall_clock_time: str = "PT15M"
    retention_time: str = "P7D"
    user_identity: Opaque | None = None


class NewJob(JobPatch):
    """The members of a new job."""

    id: Id
    display_name: str | None = None
    uses_task_dependencies: bool = False
    common_environment_settings: tuple[Pair, ...] = ()
    job_preparation_task: Preparation | None = None
    job_release_task: Release | None = None
    pool_info: PoolInfo
    on_task_failure: Literal["noaction", "performexitoptionsjobaction"] = "noaction"


class Terminate(Body):
    """The reason for terminating a job."""

    terminate_reason: str = "UserTerminate"


class Disable(Body):
    """What happens to running tasks when a job is disabled."""

    disable_tasks: Literal["requeue", "terminate", "wait"]


class MultiInstance(Body):
    """A task on several nodes."""

    number_of_instances: Whole = Field(1, ge=1, le=LARGEST)
    coordination_command_line: str
    common_resource_files: tuple[ResourceFile, ...] = ()


class ExitOptions(Body):
    """What happens to the job and to dependent tasks after an end of some kind."""

    job_action: Literal["none", "disable", "terminate"] = "none"
    dependency_action: Literal["satisfy", "block"] = "block"


class ExitCode(Body):
    """An exit code, and what happens after it."""

    code: Whole
    exit_options: ExitOptions


class ExitCodeRange(Body):
    """A range of exit codes, and what happens after them."""

    start: Whole
    end: Whole
    exit_options: ExitOptions


class ExitConditions(Body):
    """What happens after each kind of end of a task."""

    exit_codes: tuple[ExitCode, ...] = ()
    exit_code_ranges: tuple[ExitCodeRange, ...] = ()
    pre_processing_error: ExitOptions | None = None
    file_upload_error: ExitOptions | None = None
    default: ExitOptions | None = None


class IdRange(Body):
    """The tasks whose ids are numbers in a range."""

    start: Whole = Field(ge=0, le=LARGEST)
    end: Whole = Field(ge=0, le=LARGEST)


class Dependencies(Body):
    """Tasks that must end first."""

    task_ids: tuple[str, ...] = ()
    task_id_ranges: tuple[IdRange, ...] = ()


class Container(Body):
    """A container of blobs to upload to, by a signature in its address."""

    container_url: str
    path: str | None = None
    upload_headers: tuple[Pair, ...] = ()


class Destination(Body):
    """Where files are uploaded to."""

    container: Container


class UploadOptions(Body):
    """After which ends files are uploaded."""

    upload_condition: Literal["tasksuccess", "taskfailure", "taskcompletion"]


class OutputFile(Body):
    """Files to upload when the task's process has exited."""

    file_pattern: str
    destination: Destination
    upload_options: UploadOptions


class Registry(Body):
    """The login to a registry of images."""

    username: str | None = None
    password: str | None = None
    registry_server: str | None = None


class ContainerSettings(Body):
    """The container of a task."""

    image_name: str
    container_run_options: str | None = None
    registry: Registry | None = None
    working_directory: Literal["taskWorkingDirectory", "containerImageDefault"] = "taskWorkingDirectory"
    container_host_batch_bind_mounts: tuple[Opaque, ...] = ()


class NewTask(Body):
    """The members of a new task."""

    id: Id
    display_name: str | None = None
    command_line: str
    container_settings: ContainerSettings | None = None
    exit_conditions: ExitConditions | None = None
    resource_files: tuple[ResourceFile, ...] = ()
    output_files: tuple[OutputFile, ...] = ()
    environment_settings: tuple[Pair, ...] = ()
    affinity_info: Opaque | None = None
    constraints: TaskConstraints = TaskConstraints()
    required_slots: Whole = Field(1, ge=1, le=256)
    user_identity: Opaque | None = None
    multi_instance_settings: MultiInstance | None = None
    depends_on: Dependencies | None = None
    application_package_references: tuple[Opaque, ...] = ()
    authentication_token_settings: Opaque | None = None


class ReplaceTask(Body):
    """The members of a task that may change."""

    constraints: TaskConstraints = TaskConstraints()
