"""Engines: one folder for each scheduler, loaded by its entry in `registry` when a cluster first needs it.

In: a call of the port `Engine` (`shared/core/engine.py`). Out: its result, or an engine error.
An engine imports no other engine; `launch`, `node` and the modules beside them serve all engines.
"""
