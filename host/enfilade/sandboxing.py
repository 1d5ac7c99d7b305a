"""How a plugin's process is to be confined."""

from dataclasses import dataclass
from typing import Literal

Profile = Literal["none", "standard", "strict"]

DEFAULT_PROFILE: Profile = "standard"

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sandboxing:
    """What a launch asks for. A profile says which layers; the rest are their measures.

    Attributes:
        profile: `none`, `standard` or `strict`.
        required: Whether a plugin is refused where a layer of its profile is missing.
        network: Whether it may connect to anything.
        memory: Bytes of data that its process may hold; each process it starts may hold as many.
        cpu_seconds: Seconds of processor time that its process may use in its life; None is no limit.
        open_files: Files and sockets that it may have open at a time.
        file_size: Bytes of one file that it may write.
        readable: Paths it may read beside what every plugin may.
        subprocess: Whether it may start processes.
    """

    profile: Profile = DEFAULT_PROFILE
    required: bool = False
    network: bool = False
    memory: int = 2048 * _MIB
    cpu_seconds: int | None = None
    open_files: int = 256
    file_size: int = 1024 * _MIB
    readable: tuple[str, ...] = ()
    subprocess: bool = True


UNCONFINED = Sandboxing("none")
