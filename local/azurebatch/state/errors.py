"""Errors of the emulator's API."""

from collections.abc import Mapping


class BatchError(Exception):
    """An error: status, code for programs, sentence for people, and details by name."""

    def __init__(self, status: int, code: str, message: str, values: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.values = dict(values or {})


def invalid(name: str, value: str, reason: str) -> BatchError:
    """A property of a body with an invalid value."""
    message = "The value provided for one of the properties in the request body is invalid."
    values = {"PropertyName": name, "PropertyValue": value, "Reason": reason}
    return BatchError(400, "InvalidPropertyValue", message, values)


def lacking(name: str) -> BatchError:
    """A missing property of a body."""
    message = "A required property was not specified in the request body."
    return BatchError(400, "MissingRequiredProperty", message, {"PropertyName": name})


def query(name: str, value: str, reason: str) -> BatchError:
    """A query parameter with an invalid value."""
    message = "Value for one of the query parameters specified in the request URI is invalid."
    values = {"QueryParameterName": name, "QueryParameterValue": value, "Reason": reason}
    return BatchError(400, "InvalidQueryParameterValue", message, values)


def not_found(kind: str) -> BatchError:
    """A missing resource of a kind such as Pool, Job, Task, Node."""
    name = {"Node": "compute node", "NodeUser": "node user"}.get(kind, kind.lower())
    return BatchError(404, f"{kind}NotFound", f"The specified {name} does not exist.")


def conflict(code: str, message: str) -> BatchError:
    """A request that the resource's state does not allow."""
    return BatchError(409, code, message)
