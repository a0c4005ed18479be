"""The part of host.json that this host honours; it ignores other members."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from local.host.timespan import parse_timespan

_CORES = os.cpu_count() or 1


class HostJsonError(ValueError):
    """host.json cannot be used; the message names the file, the property and the expected value."""


def _span(value: object) -> object:
    return parse_timespan(value) if isinstance(value, str) else value


def _limit(value: object) -> object:
    return None if value in ("-1", -1, "-00:00:00.0010000") else _span(value)


Span = Annotated[timedelta, BeforeValidator(_span)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class Queues(_Section):
    """The section extensions.queues."""

    batch_size: int = Field(default=16, ge=1, le=32)
    new_batch_threshold: int | None = Field(default=None, ge=0, le=1000)
    max_polling_interval: Span = timedelta(minutes=1)
    visibility_timeout: Span = timedelta(0)
    max_dequeue_count: int = Field(default=5, ge=1)
    message_encoding: Literal["base64", "none"] = "base64"

    @property
    def threshold(self) -> int:
        """Most messages in progress when the next batch is fetched; by default half a batch per core."""
        chosen = self.new_batch_threshold
        return chosen if chosen is not None else self.batch_size // 2 * _CORES


class Blobs(_Section):
    """The section extensions.blobs."""

    max_degree_of_parallelism: int = Field(default=8 * _CORES, ge=1)
    poison_blob_threshold: int = Field(default=5, ge=1)


class Http(_Section):
    """The section extensions.http."""

    route_prefix: str = "api"


class Extensions(_Section):
    """The section extensions; the host ignores those of other extensions."""

    queues: Queues = Queues()
    blobs: Blobs = Blobs()
    http: Http = Http()


class Logging(_Section):
    """logging; the levels are those of Microsoft.Extensions.Logging."""

    log_level: dict[str, str] = Field(default_factory=dict)


class HostJson(_Section):
    """The whole file; `function_timeout` None means no limit; the default is Azure's outside Consumption."""

    version: Literal["2.0"]
    function_timeout: Annotated[timedelta | None, BeforeValidator(_limit)] = timedelta(minutes=30)
    extensions: Extensions = Extensions()
    logging: Logging = Logging()

    @property
    def queues(self) -> Queues:
        """How queues are read, with the host's defaults."""
        return self.extensions.queues

    @property
    def blobs(self) -> Blobs:
        """How blobs are processed, with the host's defaults."""
        return self.extensions.blobs


def read_host_json(app: Path) -> HostJson:
    """Read the app's host.json; raises HostJsonError with every mistake in it."""
    file = app / "host.json"
    try:
        return HostJson.model_validate_json(file.read_bytes())
    except OSError as error:
        remedy = 'the folder of a function app has one, at least {"version": "2.0"}'
        raise HostJsonError(f"{file}: cannot be read ({error.strerror}); {remedy}") from error
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}"
            for e in error.errors(include_input=False)
        )
        raise HostJsonError(f"{file}: {problems}") from error
