"""What a client may read by its address: packets, summaries, and what left the window."""

from msgspec import Struct

from holdfast.text.jsontext import Json

SCHEME = "holdfast://"


class Template(Struct, frozen=True):
    """A kind of address."""

    kind: str
    rest: str
    name: str
    about: str
    mime: str = "text/plain"


TEMPLATES: tuple[Template, ...] = (
    Template(
        "entry",
        "{ref}",
        "Something that was said or printed",
        "One entry of the session, in sight or not, by the reference that a stand-in names.",
    ),
    Template(
        "entry",
        "{ref}/{lines}",
        "Some lines of it",
        "The same, only these lines, such as 40-80.",
    ),
    Template(
        "packet",
        "{pane}",
        "A worker's context packet",
        "The packet of the worker in this pane; `shared` for the project's.",
        "application/yaml",
    ),
    Template(
        "summary",
        "{session}",
        "What a session came to",
        "Its intent, constraints, files, decisions, errors and next steps.",
        "text/markdown",
    ),
)


PARTS = {"entry": 2, "packet": 1, "summary": 1}
"""Parts of an address at the most, by its kind."""


class Address(Struct, frozen=True):
    """What an address points at."""

    kind: str
    name: str
    part: str = ""


def templates() -> list[Json]:
    """The kinds of addresses as a client gets them."""
    return [
        {
            "uriTemplate": f"{SCHEME}{one.kind}/{one.rest}",
            "name": one.kind if "/" not in one.rest else f"{one.kind}-lines",
            "title": one.name,
            "description": one.about,
            "mimeType": one.mime,
        }
        for one in TEMPLATES
    ]


def address_of(uri: str) -> Address | None:
    """What an address points at; nothing when it is none of ours."""
    from urllib.parse import unquote  # late: telling what there is needs no addresses

    if not uri.startswith(SCHEME):
        return None
    kind, *rest = (unquote(part) for part in uri[len(SCHEME) :].split("/"))
    if not 1 <= len(rest) <= PARTS.get(kind, 0) or not all(rest):
        return None
    return Address(kind, *rest)


def uri_of(kind: str, name: str) -> str:
    """The address of something."""
    from urllib.parse import quote

    return f"{SCHEME}{kind}/{quote(name, safe='')}"


def mime_of(kind: str) -> str:
    """What kind of text is found at an address."""
    return next(one.mime for one in TEMPLATES if one.kind == kind)
