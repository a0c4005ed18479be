"""Log lines for machines: one JSON object a line, with the fields of the record (job, state, …)."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

_LONGEST = 2000
#: The attributes that every record has; the others came from `extra`.
_OWN = frozenset((*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"))


class JsonLines(logging.Formatter):
    """Formats a record as JSON. JSON escapes line breaks, so a text cannot forge a log line."""

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON, with the record's own fields."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        body = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:_LONGEST],
        }
        body |= {name: value for name, value in vars(record).items() if name not in _OWN and value != ""}
        if record.exc_info:
            body["exception"] = self.formatException(record.exc_info)
        return json.dumps(body, ensure_ascii=True, default=str)


def write_json_lines() -> None:
    """Make the log handlers of the host write such lines."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(JsonLines())
