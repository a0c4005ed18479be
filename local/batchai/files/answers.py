"""Answers of the file service: headers, XML and errors."""

import os
from email.utils import formatdate
from xml.etree import ElementTree as Xml  # only written here, never parsed

from aiohttp import web

from confined.entries import modified
from local.batchai.files.share_paths import FileError


def exists_already(code: str) -> FileError:
    """The error of a name that is taken."""
    return FileError(409, code, "The specified resource already exists.")


def headers_of(status: os.stat_result) -> dict[str, str]:
    """The headers of a file or a share."""
    return {
        "ETag": etag(status),
        "Last-Modified": last_modified(status),
        "x-ms-request-server-encrypted": "false",
    }


def etag(status: os.stat_result) -> str:
    """The version of a file."""
    return f'"0x8D{status.st_mtime_ns:013X}"'


def last_modified(status: os.stat_result) -> str:
    """When a file was written, as headers say it."""
    return formatdate(modified(status), usegmt=True)


def as_xml(root: Xml.Element, status: int = 200) -> web.Response:
    """An answer in XML."""
    text = '<?xml version="1.0" encoding="utf-8"?>' + Xml.tostring(root, encoding="unicode")
    return web.Response(status=status, text=text, content_type="application/xml")


def error_answer(error: FileError, method: str) -> web.Response:
    """An error as the service answers it: its code in a header, and in the body unless that is left out."""
    root = Xml.Element("Error")
    Xml.SubElement(root, "Code").text = error.code
    Xml.SubElement(root, "Message").text = str(error)
    answer = web.Response(status=error.status) if method == "HEAD" else as_xml(root, error.status)
    answer.headers["x-ms-error-code"] = error.code
    return answer
