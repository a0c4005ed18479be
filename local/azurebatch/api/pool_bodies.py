"""The bodies of pools and nodes: names, types and bounds. Pure."""

from typing import Literal

from pydantic import Field

from local.azurebatch.api.bodies import LARGEST, Body, Id, Nodes, Opaque, Pair, ResourceFile, Whole

Leaving = Literal["requeue", "terminate", "taskcompletion", "retaineddata"]


class StartTask(Body):
    """The task that runs on each new node."""

    command_line: str
    resource_files: tuple[ResourceFile, ...] = ()
    environment_settings: tuple[Pair, ...] = ()
    user_identity: Opaque | None = None
    max_task_retry_count: Whole = Field(0, ge=-1, le=LARGEST)
    wait_for_success: bool = True


class SchedulingPolicy(Body):
    """The order in which nodes are filled, and jobs of one priority are served."""

    node_fill_type: Literal["spread", "pack"] = "spread"
    job_default_order: Literal["none", "creationtime"] = "none"


class PoolPatch(Body):
    """The members of a pool that a PATCH may change."""

    display_name: str | None = None
    start_task: StartTask | None = None
    metadata: tuple[Pair, ...] = ()
    application_package_references: tuple[Opaque, ...] = ()
    certificate_references: tuple[Opaque, ...] = ()
    target_node_communication_mode: str = ""
    task_slots_per_node: Whole = Field(1, ge=1, le=256)
    task_scheduling_policy: SchedulingPolicy | None = None
    vm_size: str = ""
    resource_tags: dict[str, str] | None = None
    upgrade_policy: Opaque | None = None
    mount_configuration: tuple[Opaque, ...] = ()
    enable_inter_node_communication: bool = False
    network_configuration: Opaque | None = None
    user_accounts: tuple[Opaque, ...] = ()
    virtual_machine_configuration: Opaque | None = None


class NewPool(PoolPatch):
    """The members of a new pool, with its size or a formula."""

    id: Id
    vm_size: str
    virtual_machine_configuration: Opaque
    resize_timeout: str = "PT15M"
    target_dedicated_nodes: Nodes = 0
    target_low_priority_nodes: Nodes = 0
    enable_auto_scale: bool = False
    auto_scale_formula: str = ""
    auto_scale_evaluation_interval: str = "PT15M"


class Resize(Body):
    """The new number of nodes of a pool."""

    target_dedicated_nodes: Nodes | None = None
    target_low_priority_nodes: Nodes | None = None
    resize_timeout: str = "PT15M"
    node_deallocation_option: Leaving = "requeue"


class Remove(Body):
    """The nodes to remove from a pool."""

    node_list: list[str] = Field(min_length=1, max_length=100)
    resize_timeout: str = "PT15M"
    node_deallocation_option: Leaving = "requeue"


class EnableAutoscale(Body):
    """A formula, and how often to evaluate it."""

    auto_scale_formula: str = ""
    auto_scale_evaluation_interval: str = ""


class Evaluate(Body):
    """A formula to try."""

    auto_scale_formula: str


class Reboot(Body):
    """What happens to tasks on a node that is rebooted."""

    node_reboot_option: Leaving = "requeue"
    node_reimage_option: Leaving = "requeue"
    node_disable_scheduling_option: Literal["requeue", "terminate", "taskcompletion"] = "requeue"
