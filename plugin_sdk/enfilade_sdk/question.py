"""The question of a run as a model is shown it."""

from collections.abc import Sequence

from enfilade_sdk.invocation import File
from enfilade_sdk.prompts import ContentPart, ImagePart, ImageUrl, TextPart


def question(query: str, files: Sequence[File], *, vision: bool) -> str | list[ContentPart]:
    """The question, with its images for a model that can see; of other files the names are told.

    Args:
        query: The question.
        files: The files that came with it.
        vision: Whether the model can see images.
    """
    images = [file for file in files if vision and file.is_image]
    text = with_names(query, [file for file in files if file not in images])
    if not images:
        return text
    return [TextPart(text=text), *(ImagePart(image_url=ImageUrl(url=file.url)) for file in images)]


def with_names(query: str, files: Sequence[File]) -> str:
    """The question, and the names of files that the model cannot see."""
    if not files:
        return query
    names = ", ".join(file.filename or file.mime_type or "a file" for file in files)
    return f"{query}\n\n[files given with the question, which you cannot see: {names}]"
