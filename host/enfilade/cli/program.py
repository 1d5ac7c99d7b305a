"""The command from its words to its exit code."""

import contextlib
import errno
import gc
import os
import sys
import threading
import time
from collections.abc import Sequence

import click

from enfilade.cli.descendants import end_descendants
from enfilade.cli.exit_code import FAILED, SIGNALLED, USAGE
from enfilade.cli.lazy import LazyGroup, call
from enfilade.cli.screen import OutputError, ReaderGoneError
from enfilade.cli.signals import Interrupted
from enfilade.extensions.commands import COMMANDS
from enfilade_sdk.errors import EnfiladeError

_THREAD_SECONDS = 0.2
_STDOUT, _STDERR = 1, 2
_JSON = "--json"
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@click.group(
    cls=LazyGroup,
    targets=COMMANDS,
    further="enfilade.extensions.loading:command_target",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="enfilade", message="%(prog)s %(version)s")
def enfilade() -> None:
    """Ask agents, whose strategies are plugins in processes of their own.

    \b
    enfilade run "What is 12 * 7?" -t calculator
    enfilade doctor
    """  # noqa: D301 - click's mark for lines that stay as they are


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and gives its exit code."""
    _fill_gaps()
    words = list(sys.argv[1:] if arguments is None else arguments)
    code = _exit_code(words)
    gc.freeze()  # the interpreter would look through everything once more as it ends, for 85 ms
    _end(code)
    return code


def _fill_gaps() -> None:
    """Leads standard streams that are closed to nowhere; else the next file that is opened would be taken for them."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        os.set_inheritable(number, True)
    os.close(number)


def _exit_code(words: list[str]) -> int:
    try:
        result = enfilade.main(args=words, prog_name="enfilade", standalone_mode=False)
        return int(result or 0)
    except click.UsageError as error:
        error.show()
        return _usage(error, words)
    except click.ClickException as error:
        error.show()
        return FAILED
    except EnfiladeError as error:
        return call("enfilade.cli.failure:show", error, _JSON in words)
    except ReaderGoneError:
        return FAILED
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        _forget_output()
        fault = OutputError(f"cannot write to standard output: {error.strerror}")
        return call("enfilade.cli.failure:show", fault, False)
    except Interrupted as interrupted:
        end_descendants()
        return interrupted.exit_code
    except (KeyboardInterrupt, click.Abort):
        return SIGNALLED + 2


def _forget_output() -> None:
    """Sends what is left in the buffer of standard output to nowhere; else it would come where that leads next."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STDOUT)
    os.close(nowhere)
    with contextlib.suppress(OSError):
        sys.stdout.flush()


def _usage(error: click.UsageError, words: list[str]) -> int:
    """Also gives whoever reads JSON an error to read, and of `run` the last line."""
    command = error.ctx.command if error.ctx is not None else None
    if command is None or _JSON not in words or not any(_JSON in parameter.opts for parameter in command.params):
        return USAGE
    printing = "print_outcome" if command.name == "run" else "print_usage"
    return call(f"enfilade.cli.failure:{printing}", error.format_message())


def _end(code: int) -> None:
    """Leaves nothing for the interpreter to wait for: a thread at a name look-up may take half a minute."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    deadline = time.monotonic() + _THREAD_SECONDS
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                os._exit(code)
