"""The nine toolkit blocks of a job, of which it has exactly one."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from shared.jobspec.format.base import Count, Model, Text

ScriptPath: TypeAlias = Annotated[Text, Field(description="Path of the Python script to run")]
InterpreterPath: TypeAlias = Annotated[Text, Field(description="Path of the Python interpreter")]
Arguments: TypeAlias = Annotated[str, Field(description="Arguments; the shell expands variables")]
ProcessCount: TypeAlias = Annotated[
    Count, Field(description="Processes on all nodes together; as many as nodes if absent")
]


class CntkSettings(Model):
    """CNTK, driven by BrainScript or Python; the language is guessed when it is not named."""

    language_type: Annotated[str, Field(description="BrainScript or Python, in any case")] | None = None
    config_file_path: Annotated[Text, Field(description="BrainScript configuration")] | None = None
    python_script_file_path: ScriptPath | None = None
    python_interpreter_path: InterpreterPath | None = None
    command_line_args: Arguments | None = None
    process_count: ProcessCount | None = None


class PyTorchSettings(Model):
    """PyTorch, on one process or distributed over a backend."""

    python_script_file_path: ScriptPath
    python_interpreter_path: InterpreterPath | None = None
    command_line_args: Arguments | None = None
    process_count: ProcessCount | None = None
    communication_backend: Annotated[str, Field(description="TCP, Gloo or MPI, in any case")] | None = None


class TensorFlowSettings(Model):
    """TensorFlow: one master, and for a distributed job workers and parameter servers."""

    python_script_file_path: ScriptPath
    python_interpreter_path: InterpreterPath | None = None
    master_command_line_args: Arguments | None = None
    worker_command_line_args: Arguments | None = None
    parameter_server_command_line_args: Arguments | None = None
    worker_count: Annotated[Count, Field(description="Workers; as many as nodes if absent")] | None = None
    parameter_server_count: (
        Annotated[Count, Field(description="Parameter servers, at most one a node; 1 if absent")] | None
    ) = None


class CaffeSettings(Model):
    """Caffe, driven by a solver configuration or by a Python script."""

    config_file_path: Annotated[Text, Field(description="Solver configuration")] | None = None
    python_script_file_path: ScriptPath | None = None
    python_interpreter_path: InterpreterPath | None = None
    command_line_args: Arguments | None = None
    process_count: ProcessCount | None = None


class Caffe2Settings(Model):
    """Caffe2: one process on each node."""

    python_script_file_path: ScriptPath
    python_interpreter_path: InterpreterPath | None = None
    command_line_args: Arguments | None = None


class ChainerSettings(Model):
    """Chainer under MPI."""

    python_script_file_path: ScriptPath
    python_interpreter_path: InterpreterPath | None = None
    command_line_args: Arguments | None = None
    process_count: ProcessCount | None = None


class CustomToolkitSettings(Model):
    """A command line of the user's own, run once, on the master node."""

    command_line: Annotated[str, Field(description="Shell command line")] | None = None


class CustomMpiSettings(Model):
    """A command line of the user's own, run by MPI on all nodes."""

    command_line: Annotated[Text, Field(description="Command line that MPI runs in each process")]
    process_count: ProcessCount | None = None


class HorovodSettings(Model):
    """Horovod under MPI."""

    python_script_file_path: ScriptPath
    python_interpreter_path: InterpreterPath | None = None
    command_line_args: Arguments | None = None
    process_count: ProcessCount | None = None


#: Wire name of each block → its model.
TOOLKITS: dict[str, type[Model]] = {
    "cntkSettings": CntkSettings,
    "pyTorchSettings": PyTorchSettings,
    "tensorFlowSettings": TensorFlowSettings,
    "caffeSettings": CaffeSettings,
    "caffe2Settings": Caffe2Settings,
    "chainerSettings": ChainerSettings,
    "customToolkitSettings": CustomToolkitSettings,
    "customMpiSettings": CustomMpiSettings,
    "horovodSettings": HorovodSettings,
}
