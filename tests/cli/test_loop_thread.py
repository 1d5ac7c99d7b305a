import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from enfilade.cli.loop_thread import LoopThread
from enfilade.cli.signals import Interrupted, Signals


async def forty_two() -> int:
    return 42


async def raises(error: BaseException) -> int:
    raise error


async def signalled(*numbers: int) -> int:
    """Sends signals, each as soon as the one before has cancelled this."""
    for number in numbers:
        os.kill(os.getpid(), number)
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            continue
    return 0


def test_work_gives_what_it_gives_and_raises_what_it_raises() -> None:
    with Signals() as signals, LoopThread() as loop:
        assert loop.finish(forty_two(), signals) == 42
        with pytest.raises(LookupError):
            loop.finish(raises(LookupError()), signals)
        assert loop.finish(forty_two(), signals) == 42


def test_a_task_that_wants_to_exit_ends_itself_and_not_the_loop() -> None:
    with Signals() as signals, LoopThread() as loop:
        with pytest.raises(SystemExit):
            loop.finish(raises(SystemExit(3)), signals)
        assert loop.finish(forty_two(), signals) == 42


def test_the_work_is_done_in_another_thread() -> None:
    async def thread() -> int:
        return threading.get_ident()

    with Signals() as signals, LoopThread() as loop:
        assert loop.finish(thread(), signals) != threading.get_ident()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_the_work_and_is_told(number: int) -> None:
    with Signals() as signals, LoopThread() as loop, pytest.raises(Interrupted) as caught:
        loop.finish(signalled(number), signals)
    assert caught.value.exit_code == 128 + number
    assert caught.value.final


def test_the_first_ctrl_c_may_only_end_the_work() -> None:
    with Signals() as signals, LoopThread() as loop:
        with pytest.raises(Interrupted) as caught:
            loop.finish(signalled(signal.SIGINT), signals, forgiving=True)
        assert not caught.value.final
        assert loop.finish(forty_two(), signals) == 42


DEAF = """
import asyncio, os, signal
from enfilade.cli.loop_thread import LoopThread
from enfilade.cli.signals import Signals

async def deaf():
    os.kill(os.getpid(), signal.SIGTERM)
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            print("cancelled", flush=True)

with Signals() as signals, LoopThread() as loop:
    loop.finish(deaf(), signals, lambda: print("last word", flush=True), stop_seconds=0.2)
"""


def test_work_that_does_not_stop_in_its_time_is_left_with_a_last_word() -> None:
    done = subprocess.run([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, b"cancelled\nlast word\n")


@pytest.mark.parametrize(
    "numbers", [(signal.SIGINT, signal.SIGINT), (signal.SIGINT, signal.SIGTERM), (signal.SIGTERM,)]
)
def test_a_second_ctrl_c_or_another_signal_is_final(numbers: tuple[int, ...]) -> None:
    with Signals() as signals, LoopThread() as loop, pytest.raises(Interrupted) as caught:
        loop.finish(signalled(*numbers), signals, forgiving=True)
    assert caught.value.final
    assert caught.value.number == numbers[-1]


def test_between_two_works_a_signal_is_raised_at_once() -> None:
    with Signals(), pytest.raises(Interrupted):
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(10)


def test_the_handlers_from_before_come_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with Signals():
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] != before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


@pytest.fixture
def deaf_main_thread() -> Iterator[None]:
    """Another thread takes SIGINT, so that it interrupts nothing that this one does."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def wait_for_a_read(thread: int, file: int) -> None:
    """Returns when a thread of this process waits in a system call on a file."""
    waits = Path(f"/proc/self/task/{thread}/syscall")  # number, arguments; or `running`
    deadline = time.monotonic() + 20
    while waits.read_text().split()[1:2] != [hex(file)]:
        assert time.monotonic() < deadline
        os.sched_yield()


def signal_from_another_thread(main: int, file: int) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    wait_for_a_read(main, file)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("deaf_main_thread")
def test_a_signal_that_does_not_interrupt_a_read_is_heard_all_the_same() -> None:
    read, write = os.pipe()
    in_vain = threading.Timer(30, os.write, (write, b"x"))
    in_vain.start()
    with Signals() as signals, pytest.raises(Interrupted), signals.reading():
        threading.Thread(target=signal_from_another_thread, args=(threading.get_native_id(), read)).start()
        os.read(read, 1)
    in_vain.cancel()
    os.close(read)
    os.close(write)
