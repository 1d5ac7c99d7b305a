"""Markdown: sections with their paragraphs, lists, tables and code as they are written."""

import re

from enfilade.tools.knowledge.block import Block, Outline

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def blocks_of_markdown(text: str) -> list[Block]:
    """The blocks of CommonMark with tables; comments are left out."""
    from markdown_it import MarkdownIt

    outline = Outline()
    front = _FRONT_MATTER.match(text)
    if front is not None:
        outline.text(front[1])
        text = text[front.end() :]
    lines = text.splitlines()
    markdown = MarkdownIt("commonmark").enable("table")
    markdown.core.ruler.disable(["inline"])  # only blocks matter
    tokens = markdown.parse("\n".join(lines))
    for place, token in enumerate(tokens):
        if token.level != 0 or token.map is None or token.nesting < 0:
            continue
        if token.type == "heading_open":
            outline.heading(int(token.tag[1:]), _plain(tokens[place + 1].content))
        else:
            source = "\n".join(lines[token.map[0] : token.map[1]])
            outline.text(_COMMENT.sub("", source) if token.type == "html_block" else source)
    return outline.end()


def _plain(title: str) -> str:
    """A heading without the marks of code, emphasis and links."""
    return re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", title).replace("`", "").replace("**", "")
