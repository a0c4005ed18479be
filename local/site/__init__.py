"""The documentation as a site, and as a list for programs; the pages stay as they are.

In: the pages of the repository, and the doors of docs/README.md. Out: a folder of HTML, in which every link
leads somewhere, or SiteError.
"""
