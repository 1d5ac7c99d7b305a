import os
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from enfilade.tools.builtins.files import MAX_READ, Folder
from enfilade.tools.engine import ToolEngine
from enfilade.tools.functions.importing import ToolLoadError
from enfilade_sdk.errors import EnfiladeError
from tests.support.tool_calls import call, engine_of


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder `notes` with files, and secrets beside and above it."""
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("swordfish")
    (tmp_path / "notes-too").mkdir()
    (tmp_path / "notes-too" / "b.txt").write_text("swordfish")
    (notes / "a.txt").write_text("hello \u2603\n", encoding="utf-8")
    (notes / "deep" / "c.md").write_text("# deep")
    yield notes


@pytest.fixture
async def engine(root: Path) -> AsyncIterator[ToolEngine]:
    async with engine_of("read_file:notes", folder=root.parent) as engine:
        yield engine


@pytest.mark.parametrize("path", ["a.txt", "./a.txt", "deep/../a.txt", " a.txt "])
async def test_a_file_below_the_folder_is_read(engine: ToolEngine, path: str) -> None:
    done = await call(engine, "read_file", {"path": path})
    assert (done.text, done.result.is_error) == ("hello \u2603\n", False)


async def test_a_path_from_the_root_that_leads_into_the_folder_is_read(engine: ToolEngine, root: Path) -> None:
    assert (await call(engine, "read_file", {"path": str(root / "deep" / "c.md")})).text == "# deep"


async def test_a_folder_lists_what_it_holds(engine: ToolEngine) -> None:
    assert (await call(engine, "read_file", ".")).text == "the folder holds: a.txt, deep"
    assert (await call(engine, "read_file", "deep")).text == "deep holds: c.md"


@pytest.mark.parametrize(
    "path", ["../secret.txt", "deep/../../secret.txt", "../notes-too/b.txt", "/etc/passwd", "..", "~/x", "deep/../.."]
)
async def test_nothing_outside_of_the_folder_is_read(engine: ToolEngine, root: Path, path: str) -> None:
    done = await call(engine, "read_file", {"path": path})
    assert done.result.is_error
    assert "swordfish" not in done.text
    assert str(root.parent) not in done.text


@pytest.mark.parametrize("target", ["../secret.txt", "/etc/passwd", ".."])
async def test_a_link_that_leads_out_is_not_followed(engine: ToolEngine, root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    for path in ("link", "link/secret.txt"):
        done = await call(engine, "read_file", {"path": path})
        assert done.result.is_error
        assert "swordfish" not in done.text
    assert "is not below the folder that may be read" in (await call(engine, "read_file", {"path": "link"})).text


async def test_a_link_within_the_folder_is_followed(engine: ToolEngine, root: Path) -> None:
    (root / "link").symlink_to("deep/c.md")
    assert (await call(engine, "read_file", "link")).text == "# deep"


async def test_links_that_go_round_in_a_circle_are_an_error(engine: ToolEngine, root: Path) -> None:
    (root / "x").symlink_to("y")
    (root / "y").symlink_to("x")
    assert (await call(engine, "read_file", "x")).result.is_error


def test_a_folder_that_became_a_link_after_it_was_looked_at_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = Path.resolve

    def resolve_then_swap(path: Path, strict: bool = False) -> Path:
        found = resolve(path, strict=strict)
        if path.name == "b.txt" and not (root / "deep").is_symlink():
            (root / "deep").rename(root / "was-deep")
            (root / "deep").symlink_to(root.parent / "notes-too")
        return found

    folder = Folder(root)
    monkeypatch.setattr(Path, "resolve", resolve_then_swap)
    with pytest.raises(EnfiladeError) as caught:
        folder.read("deep/b.txt")
    assert (root / "deep" / "b.txt").read_text() == "swordfish"
    assert "swordfish" not in caught.value.message


async def test_devices_pipes_and_sockets_are_not_read(engine: ToolEngine, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(root)  # a socket's path has to be short
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        pipe = await call(engine, "read_file", "pipe")
        sock = await call(engine, "read_file", "socket")
    assert "pipe is not an ordinary file (a device, pipe or socket) and is not read" in pipe.text
    assert sock.result.is_error


async def test_a_missing_file_names_its_neighbours(engine: ToolEngine) -> None:
    assert "there is no file 'a.text'. Did you mean 'a.txt'?" in (await call(engine, "read_file", "a.text")).text
    assert "There are: a.txt, deep" in (await call(engine, "read_file", "zzzzzz")).text
    assert "a part of its path is a file" in (await call(engine, "read_file", "a.txt/b")).text


@pytest.mark.parametrize("path", ["x" * 5_000, "a\0b", "x/" * 3_000])
async def test_impossible_paths_are_errors(engine: ToolEngine, path: str) -> None:
    done = await call(engine, "read_file", {"path": path})
    assert done.result.is_error
    assert len(done.text) < 7_000


async def test_binary_files_are_named_for_what_they_are(engine: ToolEngine, root: Path) -> None:
    (root / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (root / "noise").write_bytes(bytes(range(1, 256)))
    assert "p.png is no text (image/png, 10 bytes)" in (await call(engine, "read_file", "p.png")).text
    assert "noise is no text (binary data, 255 bytes)" in (await call(engine, "read_file", "noise")).text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "the tool ran and gave no text"),
        ("déjà\n".encode("cp1252"), "déjà\n\n[not UTF-8; read as Windows-1252]"),
        ("\ufeffx".encode(), "x"),
        ("née".encode("utf-16"), "née"),
        (b"a\r\nb", "a\r\nb"),
    ],
)
async def test_texts_of_other_encodings_are_read(engine: ToolEngine, root: Path, data: bytes, text: str) -> None:
    (root / "t.txt").write_bytes(data)
    assert (await call(engine, "read_file", "t.txt")).text == text


async def test_a_long_file_is_read_part_by_part_without_a_loss(engine: ToolEngine, root: Path) -> None:
    whole = "".join(f"{number}\u2603" for number in range(30_000))
    (root / "long.txt").write_text(whole, encoding="utf-8")
    got, offset = "", 0
    for _ in range(20):
        done = await call(engine, "read_file", {"path": "long.txt", "offset": offset})
        text, _, note = done.text.partition("\n[bytes ")
        if not note:
            got += done.text
            break
        got += text
        offset = int(note.rpartition("offset=")[2].rstrip("]"))
    assert got == whole


async def test_a_huge_file_costs_no_more_than_its_part(engine: ToolEngine, root: Path) -> None:
    with (root / "huge.txt").open("wb") as file:
        file.write(b"x" * 100_000)
        file.truncate(50 * 1024**3)  # a hole
    done = await call(engine, "read_file", {"path": "huge.txt"})
    assert done.text.endswith(f"[bytes 0 to {MAX_READ:,} of {50 * 1024**3:,}; go on with offset={MAX_READ}]")


@pytest.mark.parametrize("offset", [-1, 10**12])
async def test_an_offset_outside_of_the_file_is_an_error(engine: ToolEngine, offset: int) -> None:
    done = await call(engine, "read_file", {"path": "a.txt", "offset": offset})
    assert done.result.is_error
    assert "a.txt, which has 10 bytes" in done.text


@pytest.mark.parametrize(("name", "words"), [("nowhere", "there is no folder"), ("a.txt", "is not a folder")])
def test_the_folder_has_to_be_one(root: Path, name: str, words: str) -> None:
    with pytest.raises(ToolLoadError, match=words):
        Folder(root / name)


async def test_a_folder_without_a_right_to_read_is_an_error(root: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (root / "deep").chmod(0)
    with pytest.raises(EnfiladeError, match="may not be read"):
        Folder(root).read("deep/c.md")
