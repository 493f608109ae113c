"""The URIs of MCP resources: entries, packets and summaries. Describe, parse and build them."""

from msgspec import Struct

from holdfast.text.jsontext import Json

SCHEME = "holdfast://"


class UriTemplate(Struct, frozen=True):
    """The form of the URIs of one kind of resource."""

    kind: str
    path: str
    title: str
    description: str
    mime_type: str = "text/plain"


TEMPLATES: tuple[UriTemplate, ...] = (
    UriTemplate(
        "entry",
        "{ref}",
        "Something that was said or printed",
        "One entry of the session, in sight or not, by the reference that a stand-in names.",
    ),
    UriTemplate(
        "entry",
        "{ref}/{lines}",
        "Some lines of it",
        "The same, only these lines, such as 40-80.",
    ),
    UriTemplate(
        "packet",
        "{pane}",
        "A worker's context packet",
        "The packet of the worker in this pane; `shared` for the project's.",
        "application/yaml",
    ),
    UriTemplate(
        "summary",
        "{session}",
        "What a session came to",
        "Its intent, constraints, files, decisions, errors and next steps.",
        "text/markdown",
    ),
)


MAX_PARTS = {"entry": 2, "packet": 1, "summary": 1}
"""Most path parts after the kind, by kind."""


class ResourceAddress(Struct, frozen=True):
    """A parsed URI."""

    kind: str
    name: str
    part: str = ""


def list_templates() -> list[Json]:
    """Return the answer to `resources/templates/list`."""
    return [
        {
            "uriTemplate": f"{SCHEME}{template.kind}/{template.path}",
            "name": template.kind if "/" not in template.path else f"{template.kind}-lines",
            "title": template.title,
            "description": template.description,
            "mimeType": template.mime_type,
        }
        for template in TEMPLATES
    ]


def parse_uri(uri: str) -> ResourceAddress | None:
    """Parse a URI; None if it is not one of ours."""
    from urllib.parse import unquote  # late: listing the templates does not need it

    if not uri.startswith(SCHEME):
        return None
    kind, *rest = (unquote(part) for part in uri[len(SCHEME) :].split("/"))
    if not 1 <= len(rest) <= MAX_PARTS.get(kind, 0) or not all(rest):
        return None
    return ResourceAddress(kind, *rest)


def make_uri(kind: str, name: str) -> str:
    """Return the URI of a resource."""
    from urllib.parse import quote

    return f"{SCHEME}{kind}/{quote(name, safe='')}"


def mime_type_of(kind: str) -> str:
    """Return the MIME type of a kind of resource."""
    return next(template.mime_type for template in TEMPLATES if template.kind == kind)
