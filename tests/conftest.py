"""What holds for every test, whoever starts the tests and however busy the machine is."""

import atexit
import os
import shutil
import signal
import tempfile

import hypothesis

hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


def pytest_configure() -> None:
    """Takes back signals that whoever started the tests ignores (nohup, a shell's background): children would too.

    Hosts of the tests show themselves in a folder of the tests' own.
    """
    folder = os.environ["ENFILADE_DATA_DIR"] = tempfile.mkdtemp(prefix="enfilade-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
