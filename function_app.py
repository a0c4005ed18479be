"""The function app: registers the blueprints, once it is sure that they are its own."""

from importlib.util import find_spec
from pathlib import Path

import azure.functions as func

# The Functions worker appends the app to sys.path, so an installed package of the same name would win.
for name in ("confined", "functions", "shared"):
    spec = find_spec(name)
    if spec is None or Path(str(spec.origin)).parent.parent != Path(__file__).resolve().parent:
        raise ImportError(f"another package named {name!r} hides the app's own: uninstall it")

from functions.accept import blueprint as accept  # noqa: E402
from functions.api import blueprint as api  # noqa: E402
from functions.bindings import AUTH  # noqa: E402
from functions.cancel import blueprint as cancel  # noqa: E402
from functions.deliver import blueprint as deliver  # noqa: E402
from functions.document import blueprint as document  # noqa: E402
from functions.events import blueprint as events  # noqa: E402
from functions.files import blueprint as files  # noqa: E402
from functions.operate import blueprint as operate  # noqa: E402
from functions.output import blueprint as output  # noqa: E402
from functions.page import blueprint as page  # noqa: E402
from functions.poison import blueprint as poison  # noqa: E402
from functions.sweeper import blueprint as sweeper  # noqa: E402
from functions.sweeps.reads import blueprint as sweeps  # noqa: E402
from functions.teams import blueprint as teams  # noqa: E402
from functions.waiting.jobs import blueprint as waiting  # noqa: E402

app = func.FunctionApp(http_auth_level=AUTH)
for blueprint in (accept, sweeper, deliver, poison):
    app.register_functions(blueprint)
for blueprint in (api, sweeps, cancel, waiting, document, output, files, events, operate, teams, page):
    app.register_functions(blueprint)
