"""The text a model is given about an exception: no traceback, no paths, no secrets, never empty."""

import re
from collections.abc import Collection, Mapping

from enfilade.tools.json_value import clean_text
from enfilade_sdk.errors import EnfiladeError, ErrorCode

_MOST = 4_000
_SHORTEST_SECRET = 4
_MASK = "***"

_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\):.*", re.DOTALL)
_FRAME = re.compile(r'\s*File "[^"\n]*", line \d+(, in \S+)?')
_PATH = re.compile(
    r"""(?<![\w.:/~<-])~?(?:/[\w.@+\-%~]+){2,}/?|(?<![\w])[A-Za-z]:\\(?:[^\\/:*?"<>|\r\n]+\\)*[^\\/:*?"<>|\r\n\s]*"""
)
_PAIR = re.compile(
    r"""(?ix)
    \b([\w-]*(?:api[_-]?key|access[_-]?key|apikey|token(?!s)|secret|passw(?:or)?d|pwd|credential|authorization)[\w-]*)
    (["']?\s*[:=]\s*["']?)
    ((?:bearer|basic|token)\s+)?[^\s"',;&)}\]]+"""
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_IN_URL = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")
_KNOWN_KEYS = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{20,}|\bxox[abprs]-[\w-]{10,}"
    r"|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
)
_SECRET_NAME = re.compile(r"(?i)(key|token|secret|passw|pwd|credential)")


class ReportedError(EnfiladeError):
    """A tool's failure in words that it chose for the model, such as a server's: shown as they are, save secrets."""

    code = ErrorCode.TOOL_FAILED


def fault_text(tool: str, error: BaseException, secrets: Collection[str] = ()) -> str:
    """Words for a call that raised: `the tool weather failed: ConnectionError: station offline`.

    What an `EnfiladeError` says was written for its reader, so its class is not named.

    Args:
        tool: The tool's name.
        error: What it raised.
        secrets: Values that may not be shown.
    """
    message = _message(error)
    if isinstance(error, ReportedError):
        return f"the tool {tool} failed: {_shortened(masked(message, secrets))}"
    named = message if isinstance(error, EnfiladeError) and message else f"{type(error).__name__}: {message}"
    return f"the tool {tool} failed: {presentable(named.removesuffix(': '), secrets)}"


def _message(error: BaseException) -> str:
    try:
        message = str(error)
        if isinstance(error, BaseExceptionGroup):
            parts = [f"{type(part).__name__}: {part}" for part in error.exceptions[:5]]
            message = f"{error.message}: {'; '.join(parts)}"
    except Exception:  # noqa: BLE001 - the exception's own text raised; there is no text then
        return ""
    return clean_text(message).strip()


def presentable(text: str, secrets: Collection[str] = ()) -> str:
    """The text without tracebacks, folders and what looks like a secret, at most 4,000 characters of it."""
    text = masked(text[: _MOST * 4], secrets)
    text = _TRACEBACK.sub(_last_line, text)
    text = _FRAME.sub("", text)
    text = _IN_URL.sub(_MASK, text)
    text = _KNOWN_KEYS.sub(_MASK, text)
    text = _PAIR.sub(rf"\1\2{_MASK}", text)
    text = _BEARER.sub(rf"\1 {_MASK}", text)
    text = _PATH.sub(_file_name, text)
    return _shortened(text.replace("\0", ""))


def masked(text: str, secrets: Collection[str]) -> str:
    """The text without the secrets; those of less than 4 characters are no secrets."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _MASK)
    return text


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]}... (cut)"


def _last_line(match: re.Match[str]) -> str:
    """What a traceback comes down to: its last line that is not indented."""
    lines = [line for line in match[0].splitlines() if line.strip() and not line[0].isspace()]
    last = lines[-1].strip() if lines else ""
    return "" if last.startswith("Traceback") else f" {last}"


def _file_name(match: re.Match[str]) -> str:
    return re.split(r"[/\\]", match[0].rstrip("/\\"))[-1]


def secrets_of(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of environment variables whose names say that they hold a secret."""
    return frozenset(value for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= 8)  # noqa: PLR2004
