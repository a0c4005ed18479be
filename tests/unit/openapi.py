"""The OpenAPI document, made once for the tests that compare with it."""

import function_app  # noqa: F401 - its modules declare the operations
from functions.openapi.document import document

DOCUMENT = document()
