"""The OpenAPI document, made once for the tests that compare with it."""

from functions.openapi.document import document

DOCUMENT = document()
