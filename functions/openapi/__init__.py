"""The API's own description, made when it is asked for: nothing here is imported by a cold start.

In: nothing. Out: the OpenAPI 3.1 document that `GET /api/openapi.json` answers.
"""
