"""Log records as JSON Lines that say in which run they were made."""

import json
import logging
from datetime import UTC, datetime

from enfilade.telemetry.place import here

_PLUGINS = "enfilade.plugin."
_TRACE_PARTS = 4


class JsonLines(logging.Formatter):
    """One JSON object for each record: time, level, logger, message, and the run's id, plugin and trace.

    What a plugin's process prints belongs to no run; its plugin is named all the same.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **run_of(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class RunMark(logging.Filter):
    """Gives every record `run_id`, `plugin` and `trace_id`, for formats of one's own; empty where there is none.

    Put it on a handler, not on a logger: a logger's filters do not see what its children log.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Marks the record; lets all through."""
        marks = run_of(record)
        for name in ("run_id", "plugin", "trace_id", "span_id"):
            setattr(record, name, marks.get(name, ""))
        return True


def run_of(record: logging.LogRecord) -> dict[str, str]:
    """What is known of where a record was made; to be asked where the record is made, in its own task."""
    if record.name.startswith(_PLUGINS):
        return {"plugin": record.name.removeprefix(_PLUGINS)}
    place = here()
    if place is None:
        return {}
    marks = {"run_id": place.run_id, "plugin": place.plugin}
    parts = place.traceparent.split("-")
    return marks | ({"trace_id": parts[1], "span_id": parts[2]} if len(parts) == _TRACE_PARTS else {})
