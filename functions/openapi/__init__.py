"""The API's own description, made on request: a cold start imports none of this.

In: nothing. Out: the OpenAPI 3.1 document that `GET /api/openapi.json` answers.
"""
