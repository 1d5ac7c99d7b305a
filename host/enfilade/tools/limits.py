"""What tools may cost, in seconds and bytes."""

from pydantic import BaseModel, ConfigDict, Field

KIB = 1024
MIB = 1024 * KIB


class ToolLimits(BaseModel):
    """The limits of all tools of a set-up.

    Attributes:
        timeout: Seconds one call may take, where neither the tool nor its entry says otherwise.
        grace: Seconds a stopped call has to clean up before it is left to itself.
        load_timeout: Seconds a source may take to load.
        result_bytes: Bytes of result text that the model is given; the rest is cut, with a note.
        item_bytes: Bytes of one message of a tool; one above makes the call an error.
        file_bytes: Bytes of one file that a tool gives; files above `item_bytes` are sent in parts.
        threads: Calls of blocking functions that may be under way at once.
        strays: Calls that did not stop when told to; when there are as many, no further one is made.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    timeout: float = Field(default=60.0, gt=0)
    grace: float = Field(default=1.0, ge=0)
    load_timeout: float = Field(default=60.0, gt=0)
    result_bytes: int = Field(default=64 * KIB, ge=KIB)
    item_bytes: int = Field(default=8 * MIB, ge=KIB)
    file_bytes: int = Field(default=64 * MIB, ge=KIB)
    threads: int = Field(default=32, ge=1)
    strays: int = Field(default=32, ge=1)
