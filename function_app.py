"""The function app: registers the blueprints, nothing else."""

import azure.functions as func

from functions.accept import blueprint as accept
from functions.api import blueprint as api
from functions.deliver import blueprint as deliver
from functions.sweep import blueprint as sweep

app = func.FunctionApp(http_auth_level=func.AuthLevel.FUNCTION)
for blueprint in (accept, sweep, deliver, api):
    app.register_functions(blueprint)
