"""The HTTP functions of the app: the library gives its functions out once a process."""

from __future__ import annotations

from azure.functions.decorators.http import HttpTrigger

import functions.api
import functions.caller
from function_app import app

_HTTP = [
    (function, trigger)
    for function in app.get_functions()
    if isinstance(trigger := function.get_trigger(), HttpTrigger)
]
#: By name.
ROUTES = {function.get_function_name(): function.get_user_function() for function, _ in _HTTP}
TRIGGERS = [trigger for _, trigger in _HTTP]
#: The modules of theirs that ask for the ports.
ASKING = (functions.caller, functions.api)
