"""What an operator says of a plugin's sandbox, and what that comes to."""

from pydantic import BaseModel, ByteSize, ConfigDict, Field, field_validator

from enfilade.sandboxing import DEFAULT_PROFILE, Profile, Sandboxing

_MIB = 1024 * 1024

STRICT_CPU_SECONDS = 3600
"""Seconds of processor time under `strict` where the operator names none."""

_BOUNDS = ("memory", "cpu_seconds", "open_files", "file_size")


class SandboxSettings(BaseModel):
    """The sandbox of one plugin in the configuration; what is not given is the host's, or its profile's, default.

    Attributes:
        sandbox: The profile.
        sandbox_required: Whether it is refused where a layer of the profile is missing.
        network: Whether it may connect to anything; false by default.
        memory: How much data it may hold, such as `"512 MiB"`; 2 GiB by default.
        cpu_seconds: Processor time of its process; no limit by default, an hour under `strict`.
        open_files: Files and sockets open at a time; 256 by default.
        file_size: How large a file may be that it writes; 1 GiB by default.
        readable: Paths it may read beside its own code, its environment, the system's libraries and certificates.
        subprocess: Whether it may start processes; true by default, false under `strict`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sandbox: Profile | None = None
    sandbox_required: bool | None = None
    network: bool = False
    memory: ByteSize | None = Field(default=None, ge=64 * _MIB)
    cpu_seconds: int | None = Field(default=None, ge=1)
    open_files: int | None = Field(default=None, ge=32)
    file_size: ByteSize | None = Field(default=None, ge=0)
    readable: tuple[str, ...] = ()
    subprocess: bool | None = None

    @field_validator("readable")
    @classmethod
    def _absolute(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        for path in paths:
            if not path.startswith("/") or "\n" in path:
                raise ValueError(f"expected absolute paths, got {path!r}")
        return paths

    def asked(self) -> str:
        """The setting that asks for the plugin to be confined, as it is written; empty where none does."""
        if self.sandbox == "none":
            return ""
        if self.sandbox is not None:
            return f'sandbox = "{self.sandbox}"'
        if self.sandbox_required:
            return "sandbox_required = true"
        bounds = (name for name in _BOUNDS if getattr(self, name) is not None)
        return "subprocess = false" if self.subprocess is False else next(bounds, "")

    def sandboxing(self, profile: Profile = DEFAULT_PROFILE, *, required: bool | None = None) -> Sandboxing:
        """What a launch asks for.

        Args:
            profile: The host's own setting, for a plugin that has none.
            required: Likewise; None requires what `strict` has, and nothing of what `standard` has.
        """
        chosen = self.sandbox or profile
        strict = chosen == "strict"
        needed = self.sandbox_required if self.sandbox_required is not None else required
        given = {
            "memory": self.memory,
            "cpu_seconds": self.cpu_seconds or (STRICT_CPU_SECONDS if strict else None),
            "open_files": self.open_files,
            "file_size": self.file_size,
        }
        return Sandboxing(
            profile=chosen,
            required=strict if needed is None else needed,
            network=self.network,
            readable=self.readable,
            subprocess=not strict if self.subprocess is None else self.subprocess,
            **{name: int(value) for name, value in given.items() if value is not None},
        )
