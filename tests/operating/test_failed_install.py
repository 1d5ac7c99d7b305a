"""An installation that fails says so at once, with the tool's words, and leaves nothing; the next try works."""

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.environments.processes import processes_naming, until
from tests.operating.operator import Operator

REQUIREMENT = "no-such-package-zzz==9.9.9"


async def nothing_is_left(operator: Operator) -> None:
    assert (operator.environments(), await operator.listed()) == (set(), {})
    assert {path.name for path in operator.root.glob("*")} <= {".changing", "environments", "sdk", "bytecode"}


async def test_a_missing_requirement_fails_with_the_tools_last_lines_and_a_corrected_plugin_works(
    operator: Operator,
) -> None:
    failed = await operator.add(operator.write("needs-missing", requires=[REQUIREMENT]))
    assert (failed.code, failed.out) == (1, b"")
    assert (
        "uv could not find what needs-missing needs (exit code 1): a package, or the version of it that is asked for, "
        "is in none of the places that were looked at; look at how it is written, or name a place that has it; "
        "nothing was changed. Its last lines:" in failed.err
    )
    assert "no-such-package-zzz" in failed.err.rpartition("Its last lines:")[2]
    await nothing_is_left(operator)

    assert (await operator.add(operator.write("needs-missing"))).code == 0
    assert (await operator.ask("needs-missing")).text == "hello\n"


async def test_a_plugin_that_does_not_open_is_not_installed(operator: Operator) -> None:
    wheel = operator.write("broken", files={"broken/strategy.py": "import os\nos._exit(7)\n"})
    failed = await operator.add(wheel, "--json")
    assert failed.code == 1
    assert "broken 1.0.0 could be installed but not opened, so nothing was changed" in failed.err
    assert json.loads(failed.out)["error"]["details"]["reason"] == "not_opened"
    assert "exit code 7" in failed.err
    await nothing_is_left(operator)


async def test_an_index_that_cannot_be_reached_is_named_by_the_tool(operator: Operator) -> None:
    operator.command.environment |= {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}
    failed = await operator.plugins("add", "some-strategy")
    assert failed.code == 1
    assert "cannot be reached; look at the network" in failed.err
    assert "127.0.0.1:9" in failed.err.rpartition("Its last lines:")[2]
    await nothing_is_left(operator)


async def test_a_python_that_is_not_there_is_told_before_anything_is_installed(operator: Operator) -> None:
    failed = await operator.add(operator.write("greeter"), "--python", "3.99")
    assert failed.code == 1
    assert "expected Python 3.99, and found none on this machine; looked at " in failed.err
    await nothing_is_left(operator)


WITHOUT_UV = "import sys; sys.modules['uv'] = None; from enfilade.cli import main; sys.exit(main())"


async def test_without_uv_pip_does_it(operator: Operator) -> None:
    operator.command.program = (sys.executable, "-c", WITHOUT_UV)
    operator.command.environment["PIP_CONFIG_FILE"] = "/dev/null"
    added = await operator.add(operator.write("greeter"), "--json")
    assert added.code == 0, added.err
    assert json.loads(added.out)["installer"] == "pip"
    assert (await operator.ask("greeter")).text == "hello\n"


SMALL_DISK = """
mount -t tmpfs -o size=4000k tmpfs "$ROOT" || exit 77
"$PYTHON" -m enfilade "$@"
code=$?
ls "$ROOT/environments"
exit $code
"""


async def test_a_full_disk_is_told_and_leaves_nothing(operator: Operator) -> None:
    wheel = operator.write("greeter", files={"greeter/big.txt": os.urandom(1_000_000).hex()})
    operator.root.mkdir()
    operator.command.environment |= {"ROOT": str(operator.root), "PYTHON": sys.executable}
    operator.command.program = ("unshare", "-rm", "sh", "-c", SMALL_DISK, "sh")
    failed = await operator.add(wheel)
    if failed.code == 77 or "unshare" in failed.err:
        pytest.skip(f"this machine lets no test mount a small disk: {failed.err}")
    assert (failed.code, failed.out) == (1, b"")
    assert "the disk is full" in failed.err or "No space left on device" in failed.err


async def test_ctrl_c_ends_it_soon_and_changes_nothing(operator: Operator) -> None:
    wheel = operator.write("hanging", files={"hanging/strategy.py": "import time\ntime.sleep(600)\n"})
    async with operator.command.running(*operator.installing("add", wheel)) as adding:
        await adding.until(lambda: "opening hanging" in adding.err)
        adding.signal(signal.SIGINT)
        ended = await adding.finished()
        assert ended.code == 130
        assert "interrupted; nothing was changed" in ended.err
        assert await adding.survivors() == []
    await nothing_is_left(operator)


@pytest.mark.parametrize("step", ["finding what", "installing", "opening"])
async def test_a_command_that_is_killed_half_way_leaves_nothing_once_a_host_has_been_there(
    operator: Operator, step: str
) -> None:
    wheel = operator.write("greeter")
    async with operator.command.running(*operator.installing("add", wheel)) as adding:
        await adding.until(lambda: step in adding.err)
        await adding.kill()
    await until(lambda: not processes_naming(operator.root), "no process of it is left")
    assert await operator.listed() == {}
    assert (await operator.command("run", "What is 6 * 7?", "-t", "calculator")).code == 0  # any host sweeps
    await nothing_is_left(operator)
    assert (await operator.add(wheel)).code == 0


async def test_two_who_add_the_same_plugin_at_once_install_it_once(operator: Operator) -> None:
    words = operator.installing("add", operator.write("greeter"))
    async with operator.command.running(*words) as one, operator.command.running(*words) as two:
        ended = [await one.finished(), await two.finished()]
    assert sorted(e.code for e in ended) == [0, 1]
    assert any("plugin 'greeter' is installed already" in e.err for e in ended)
    assert len(operator.environments()) == 1


async def test_a_root_that_cannot_be_written_is_told_with_what_to_do(operator: Operator, tmp_path: Path) -> None:
    operator.command.environment["ENFILADE_PLUGINS_DIR"] = "/proc/no/such/place"
    failed = await replace(operator, root=tmp_path / "none").add(operator.write("greeter"))
    assert failed.code == 1
    assert "make it writable, or name another with ENFILADE_PLUGINS_DIR" in failed.err
    assert "Traceback" not in failed.err
