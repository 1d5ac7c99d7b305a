"""The lines that tell what a run does."""

from typing import Any

import pytest

from enfilade.cli.trace import Trace
from enfilade_sdk.messages import LogPayload, LogStatus

ERROR, SUCCESS = LogStatus.ERROR, LogStatus.SUCCESS
ARGUMENTS = {"arguments": {"pier": "A"}}


@pytest.mark.parametrize(
    ("status", "data", "seconds", "line"),
    [
        (SUCCESS, {**ARGUMENTS, "output": "3"}, 0.25, 'moorings {"pier":"A"} (0.25 s) = 3'),
        (SUCCESS, {"output": "3"}, None, "moorings = 3"),
        (ERROR, ARGUMENTS, 0.25, 'moorings {"pier":"A"} failed (0.25 s): the quay is closed'),
        (ERROR, ARGUMENTS, None, 'moorings {"pier":"A"} failed: the quay is closed'),
        (ERROR, {}, None, "moorings failed: the quay is closed"),
    ],
)
def test_a_tool_s_line_has_what_is_known_and_no_gaps(
    status: LogStatus, data: dict[str, Any], seconds: float | None, line: str
) -> None:
    metadata = {"kind": "tool"} | ({} if seconds is None else {"seconds": seconds})
    error = "the quay is closed" if status is ERROR else None
    log = LogPayload(id="1", label="CALL moorings", status=status, error=error, data=data, metadata=metadata)
    assert Trace().line(log) == line
