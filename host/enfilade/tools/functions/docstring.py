"""What a docstring says: of the function, for the model, and of each parameter."""

import inspect
import re
from dataclasses import dataclass, field

SECTION = re.compile(r"^\s*(?:[\w ]+:\s*$|[:@]\w+|-{3,}\s*$)", re.MULTILINE)
"""How a section begins in any of the styles: `Args:`, `:param`, `@param`, or a line under a heading."""


@dataclass(frozen=True, slots=True)
class Documentation:
    """The words of a docstring.

    Attributes:
        text: Everything but the sections about parameters, errors and examples.
        parameters: Words for each parameter that is described.
    """

    text: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def documentation_of(docstring: str | None) -> Documentation:
    """Reads a docstring in Google, numpy or Sphinx style, or in none."""
    if not docstring or not docstring.strip():
        return Documentation()
    text = inspect.cleandoc(docstring)
    if not SECTION.search(text):
        return Documentation(text.strip())
    import griffe  # 0.16 s, needed only where a docstring has sections

    parsed = griffe.Docstring(text)
    style, _ = griffe.infer_docstring_style(parsed)
    if style is None:
        return Documentation(parsed.value)
    sections = parsed.parse(style, **({"warnings": False} if style.value != "auto" else {}))
    texts: list[str] = []
    parameters: dict[str, str] = {}
    for section in sections:
        if isinstance(section, griffe.DocstringSectionText):
            texts.append(section.value.strip())
        elif isinstance(section, griffe.DocstringSectionParameters | griffe.DocstringSectionOtherParameters):
            for parameter in section.value:
                parameters[parameter.name.lstrip("*")] = " ".join(parameter.description.split())
        elif isinstance(section, griffe.DocstringSectionReturns) and section.value:
            words = " ".join(section.value[0].description.split())
            texts.append(f"Returns: {words}" if words else "")
    return Documentation("\n\n".join(filter(None, texts)), parameters)
