"""Why a site cannot be built."""


class SiteError(Exception):
    """A page or a link is wrong; the message names the place."""
