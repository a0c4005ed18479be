"""The operations of the HTTP API: how each is declared, and what is made from the declarations.

In: the handlers under `operation`. Out: routes with their checks; on request the OpenAPI 3.1 document that
`GET /api/openapi.json` answers, the page of operations, and the types of the page for browsers.
"""
