import pytest

from enfilade.tools.fault import fault_text, presentable, secrets_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("station offline", "station offline"),
        ("[Errno 2] No such file: '/home/ann/data/x.txt'", "[Errno 2] No such file: 'x.txt'"),
        ("in /srv/app/tools/weather.py", "in weather.py"),
        ("C:\\Users\\ann\\x.txt is locked", "x.txt is locked"),
        ("~/notes/deep/x.txt", "x.txt"),
        ("see https://api.example/v1/docs and ./a/b/c", "see https://api.example/v1/docs and ./a/b/c"),
        ("50 km/h, and/or 1/2/3 on 2026/11/30", "50 km/h, and/or 1/2/3 on 2026/11/30"),
        ("https://ann:pw@host.example/x", "https://***@host.example/x"),
        ("GET /x?api_key=abc123&q=tides", "GET /x?api_key=***&q=tides"),
        ("Authorization: Bearer abcdef.ghijkl", "Authorization: ***"),
        ("sent Bearer abcdefghijkl", "sent Bearer ***"),
        ('{"password": "hunter2", "user": "ann"}', '{"password": "***", "user": "ann"}'),
        ("bad key sk-abcdefghijklmnop1234", "bad key ***"),
        ("ghp_abcdefghijklmnopqrst refused", "*** refused"),
        ("AKIAABCDEFGHIJKLMNOP", "***"),
        ("a limit of 4096 tokens: 5000 came", "a limit of 4096 tokens: 5000 came"),
        ("the monkey: see the docs", "the monkey: see the docs"),
        ("nul \0 byte", "nul  byte"),
        (
            'it broke\nTraceback (most recent call last):\n  File "/a/c.py", line 3, in f\n    x()\nValueError: inner',
            "it broke ValueError: inner",
        ),
        ('at File "/a/b/c.py", line 3, in f', "at"),
    ],
)
def test_a_text_keeps_its_meaning_and_loses_folders_secrets_and_tracebacks(text: str, shown: str) -> None:
    assert presentable(text) == shown


def test_known_secrets_are_hidden_wherever_they_stand() -> None:
    text = fault_text("t", RuntimeError("login ann:swordfish failed (swordfish)"), {"swordfish"})
    assert text == "the tool t failed: RuntimeError: login ann:*** failed (***)"


def test_short_values_are_no_secrets() -> None:
    assert presentable("a 1 in abc", {"1", "abc"}) == "a 1 in abc"


def test_a_long_text_is_cut() -> None:
    text = fault_text("t", RuntimeError("x" * 1_000_000))
    assert len(text) < 4_100
    assert text.endswith("... (cut)")


def test_secrets_of_the_environment_are_found_by_their_names() -> None:
    environment = {"OPENAI_API_KEY": "abcdefgh1", "DB_PASSWORD": "abcdefgh2", "HOME": "/home/ann", "PIN_TOKEN": "1234"}
    assert secrets_of(environment) == {"abcdefgh1", "abcdefgh2"}


@pytest.mark.parametrize(
    "text", ["/a" * 5_000, "a=token" * 2_000, "-" * 10_000 + "token", "C:\\" + "a\\" * 5_000, ":" * 10_000]
)
def test_no_text_takes_long(text: str) -> None:
    assert len(presentable(text)) < 4_100
