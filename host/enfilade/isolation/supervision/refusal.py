"""The errors of runs that a plugin's state keeps from beginning."""

from enfilade.errors import LaunchError
from enfilade.isolation.supervision.states import State


def given_up(plugin: str, crashes: int, last: str) -> LaunchError:
    """For a plugin that crashed too often.

    Args:
        plugin: Its name.
        crashes: How often.
        last: How the last crash came about.
    """
    return LaunchError(
        f"plugin {plugin!r} is disabled here: it crashed {crashes} times within five minutes; "
        f"`enfilade plugins restart {plugin}` starts it again; how it ended: {last}",
        details={"state": State.DISABLED.value},
    )


def too_late(plugin: str, left: float, seconds: float, last: str) -> LaunchError:
    """For a run whose time is up before the plugin is started again.

    Args:
        plugin: Its name.
        left: Seconds until it is started again.
        seconds: The run's own.
        last: How the last crash came about.
    """
    return LaunchError(
        f"plugin {plugin!r} crashed and is not started again before {left:.1f} s are over, which is later than this "
        f"run may take ({seconds:g} s); try again then; how it ended: {last}",
        details={"state": State.BACKING_OFF.value, "retry_after": round(left, 3), "retryable": True},
    )


def stopped(plugin: str) -> LaunchError:
    """For whoever waits for a plugin that is stopped."""
    return LaunchError(f"plugin {plugin!r} was stopped while it started")


def not_started(plugin: str, error: Exception) -> LaunchError:
    """For a start that failed with an error that is none of ours."""
    return LaunchError(f"plugin {plugin!r} could not be started: {type(error).__name__}: {error}")
