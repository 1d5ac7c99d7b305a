import asyncio
from io import BytesIO
from pathlib import Path

import pytest

from enfilade.cli.plugins.install_progress import InstallProgress
from enfilade.cli.plugins.later_opener import LaterOpener
from enfilade.cli.screen import Screen, Stream
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.order import Opener, Progress, Step
from enfilade.errors import ConfigError

BOUND = 30.0


async def test_a_faulty_configuration_ends_the_installation_that_is_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "enfilade.toml").write_text("[plugins.greeter]\nsandbox = 5\n")
    monkeypatch.chdir(tmp_path)
    ended: list[str] = []

    async def work(opener: Opener, progress: Progress) -> None:
        progress(Step("create", "making its environment"))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with pytest.raises(ConfigError, match=r"plugins\.greeter\.sandbox"):
        async with asyncio.timeout(BOUND):
            await LaterOpener().along_with(work, lambda step: None)
    assert ended == ["cancelled"]


async def test_what_fails_before_there_is_anything_to_wait_for_reads_no_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "enfilade.toml").write_text("no = configuration")
    monkeypatch.chdir(tmp_path)
    told: list[Step] = []

    async def work(opener: Opener, progress: Progress) -> None:
        progress(Step("python", "Python 3.11"))
        raise InstallError(Reason.EXISTS, "it is there")

    with pytest.raises(InstallError, match="it is there"):
        await LaterOpener().along_with(work, told.append)
    assert told == [Step("python", "Python 3.11")]


def test_steps_that_are_taken_at_once_are_told_once_each() -> None:
    err = BytesIO()
    progress = InstallProgress(Screen(Stream(BytesIO()), Stream(err)), verbose=False)
    for step in (Step("create", "making"), Step("resolve", "finding"), Step("create", "a word"), Step("resolve", "b")):
        progress(step)
    assert err.getvalue() == b"making\nfinding\n"
