"""The triggers: queue, blob, timer, HTTP. Each turns what happened into invocations, as in Azure."""
