"""The triggers: unwrap the binding, make one call, map the outcome. `azure.functions` is used only here.

In: a message, a blob, a timer or an HTTP request. Out: a call of one use case in `shared`, and its
answer. A trigger imports its use case when it is called, so that a cold start loads only what it needs.
"""
