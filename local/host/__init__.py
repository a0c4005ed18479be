"""A local Azure Functions host: fires the triggers of any Python v2 app against Azurite.

It drives Microsoft's azure-functions-runtime in worker processes. What it leaves out of the real host:
scaling, drain mode, dynamic concurrency, EasyAuth, Application Insights, and all bindings but queue, blob,
timer and HTTP.
"""
