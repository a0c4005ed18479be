"""The API's own description, made when it is asked for: nothing here is imported by a cold start.

Comes in: nothing. Goes out: the OpenAPI 3.1 document that `GET /api/openapi.json` answers.
"""
