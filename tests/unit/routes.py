"""The functions of the app: the library gives them out once a process."""

from __future__ import annotations

from azure.functions.decorators.http import HttpTrigger

import functions.api
import functions.caller
import functions.document
from function_app import app

_ALL = app.get_functions()
_HTTP = [
    (function, trigger) for function in _ALL if isinstance(trigger := function.get_trigger(), HttpTrigger)
]
#: The HTTP functions by name.
ROUTES = {function.get_function_name(): function.get_user_function() for function, _ in _HTTP}
TRIGGERS = [trigger for _, trigger in _HTTP]
#: The other functions by name, and the trigger of each.
BY_EVENT = {
    str(function.get_function_name()): function.get_user_function()
    for function in _ALL
    if not isinstance(function.get_trigger(), HttpTrigger)
}
TRIGGER_BY_EVENT = {
    str(function.get_function_name()): function.get_trigger()
    for function in _ALL
    if not isinstance(function.get_trigger(), HttpTrigger)
}
#: The modules of theirs that ask for the ports.
ASKING = (functions.caller, functions.api, functions.document)
