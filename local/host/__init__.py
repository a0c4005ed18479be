"""A local Azure Functions host: fires the triggers of any Python v2 app against Azurite.

In: messages, blobs, moments and HTTP requests. Out: invocations of the app's functions, by
Microsoft's azure-functions-runtime in worker processes. What it leaves out of the real host:
scaling, drain mode, dynamic concurrency, EasyAuth, Application Insights, and all bindings but queue, blob,
timer and HTTP.
"""
