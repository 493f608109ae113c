"""Programming languages: what tells one from another, and what names something in it.

Lines are matched from their start, one at a time. That is no parser: it reads what people
write, which is one definition to a line.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct


class Language(Struct, frozen=True):
    """A language as an outline needs it."""

    name: str
    marks: re.Pattern[str]
    """Lines that show the language."""
    defines: tuple[re.Pattern[str], ...]
    """Lines that name something, the name in the last group; types and functions first."""
    share: float = 0.12
    """The least share of lines with a mark."""


PYTHON_MARKS = re.compile(
    r"^(?:import \w[\w., ]*$|from \S+ import |@\w|if __name__|(?:async )?def \w+\("
    r"|class \w+.{0,200}:$)"
    r"|^\s++(?:(?:async )?def \w+\(|elif .{0,200}:$|except\b.{0,200}:$|self\.\w|if .{1,200}:$"
    r"|for .{1,200} in .{1,200}:$)"
)
PYTHON_DEFINES = re.compile(r"^( {0,8}|\t)(?:async def|def|class) (\w+)")
PYTHON_CONSTANTS = re.compile(r"^()([A-Z_][A-Z0-9_]{2,60})(?:: [^=]{1,80})? = ")

SCRIPT_MARKS = re.compile(
    r"^(?:import (?:type )?[\w{*'\"]|export |(?:const|let|var) [\w{\[]|(?:async )?function\b"
    r"|interface \w|type \w+ =|module\.exports|declare )"
    r"|^\s++(?:const|let) [\w{\[]|^\s*+\}\)?[;,]$|^\s*+(?:describe|it|test|expect)\(|^\s++(?:await"
    r"|return) .{0,200};$|^\s++\w++\??: \w.{0,100};$"
)
SCRIPT_DEFINES = re.compile(
    r"^( {0,4}|\t)(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?"
    r"|class|interface|type|enum|namespace) (\w+)"
)
SCRIPT_VALUES = re.compile(r"^()(?:export )?(?:const|let|var) (\w+)")
SCRIPT_METHODS = re.compile(
    r"^( {2}| {4}|\t)(?:(?:public|private|protected|static|async|override|get|set|readonly) )*+"
    r"(?!(?:if|for|while|switch|catch|return|function|await|else|super|expect|describe|it"
    r"|test)\b)(#?\w+)(?:<[^<>()]{0,80}>)?\([^;]{0,300}\{$"
)
SCRIPT_TESTS = re.compile(
    r"^( {0,8}|\t{0,2})(?:describe|it|test)(?:\.\w{1,12})?\((['\"`][^'\"`]{1,160})"
)

GO_MARKS = re.compile(
    r"^(?:package \w+$|func |import \(|type \w+ |//go:)|^\t++(?:if err != nil|return\b|defer "
    r"|[\w.]+(?:, [\w.]+)* := |for .{0,100} range |(?:if )?err :?= |(?:\} else )?if .{1,200} \{$"
    r"|t\.\w+\(|fmt\.|\w+\.\w+\(.{0,200}\)$)"
)
GO_DEFINES = re.compile(r"^()(?:func (?:\([^)]{0,80}\) )?|type )(\w+)")
GO_VALUES = re.compile(r"^()(?:const|var) (\w+)")

RUST_MARKS = re.compile(
    r"^(?:use \w+(?:::|;)|mod \w+|impl\b|#!?\[)|^\s*+(?:pub(?:\(\w+\))? |fn \w+|let mut "
    r"|match .{1,100} \{$|#\[\w)"
)
RUST_DEFINES = re.compile(
    r"^( {0,4})(?:pub(?:\(\w{1,8}\))? )?(?:default )?(?:const )?(?:async )?(?:unsafe )?(?:fn"
    r"|struct|enum|trait|mod|type|union|macro_rules!) (\w+)"
)
RUST_IMPLS = re.compile(r"^()(impl\b[^{]{1,120})")
RUST_VALUES = re.compile(r"^()(?:pub(?:\(\w{1,8}\))? )?(?:const|static) (?:mut )?(\w+)")

JVM_MARKS = re.compile(
    r"^(?:package [\w.]+;?$|import (?:static )?[\w.*]+;?$|using [\w.]+;|namespace [\w.]+)"
    r"|^\s*+(?:public|private|protected|internal) |^\s++@Override|^\s*+(?:(?:override |suspend "
    r"|private )*+fun |data class )"
)
JVM_TYPES = re.compile(
    r"^( {0,8}|\t{0,2})(?:(?:public|private|protected|internal|static|final|abstract|sealed|data"
    r"|open|partial|inner|export) )*+"
    r"(?:class|interface|enum|record|object|struct|namespace|annotation class|enum class) (\w+)"
)
JVM_METHODS = re.compile(
    r"^( {2,8}|\t{1,2}|)(?:(?:public|private|protected|internal|static|final|abstract|override"
    r"|virtual|async|suspend|open|synchronized|inline) )++"
    r"(?:fun )?(?:[\w<>\[\].?,]{1,80} ){0,2}(\w+) ?\("
)
JVM_FUNS = re.compile(r"^( {0,8}|\t{0,2})fun (?:<[^<>]{0,60}> )?([\w.]+)\(")

C_MARKS = re.compile(
    r"^#\s*(?:include|define|ifn?def|if|endif|pragma)\b|^(?:static|void|int|char|struct|typedef"
    r"|template|namespace|extern|using namespace|class)\b"
)
C_DEFINES = re.compile(r"^()(?:typedef )?(?:struct|class|enum(?: class)?|union|namespace) (\w+)")
C_FUNCTIONS = re.compile(
    r"^()(?!(?:return|else|if|for|while|switch|using"
    r"|typedef)\b)[A-Za-z_][\w:<>,*& ]{0,120}[ *&]([\w:~]+)\([^;]{0,300}$"
)
C_MACROS = re.compile(r"^()#define (\w+)")

RUBY_MARKS = re.compile(
    r"^(?:require|require_relative) ['\"]|^\s*+(?:end$|attr_\w+ |module [A-Z]"
    r"|def \w+[?!]?(?:\(.{0,100}\))?$|.{0,80} do(?: \|.{0,40}\|)?$)"
)
RUBY_DEFINES = re.compile(r"^( {0,6})(?:def|class|module) ([\w.:?!=]+)")

PHP_MARKS = re.compile(
    r"^<\?php|^\s*+(?:\$\w+ ?=|(?:public|private|protected)?(?: static)? ?function \w|use [\w\\]+;"
    r"|namespace [\w\\]+;|echo )"
)
PHP_DEFINES = re.compile(
    r"^( {0,4})(?:(?:abstract|final|public|private|protected|static) )*+(?:class|interface|trait"
    r"|enum|function) (\w+)"
)

SHELL_MARKS = re.compile(
    r"^#!.{0,40}\b(?:ba|z|da)?sh\b|^\s*+(?:fi|done|esac)$|^\s*+(?:if \[|echo [\"'$]|export \w+="
    r"|local \w+|set -[euxo]|then$|source |[A-Z_]+=[\"$'])"
)
SHELL_DEFINES = re.compile(r"^( {0,4})(?:function )?([\w:-]+) ?\(\) ?\{?$")

SQL_MARKS = re.compile(
    r"^\s*+(?:create (?:table|index|view|or|unique|function|policy)|select\b|insert into"
    r"|alter table|from \w|where \w|(?:left |inner )?join |group by|order by|values ?\(|drop )",
    re.IGNORECASE,
)
SQL_DEFINES = re.compile(
    r"^()(?:create|alter|drop) (?:or replace )?(?:unique )?(?:temp(?:orary)? )?(?:materialized )?"
    r"(?:table|index|view|function|procedure|trigger|type|policy"
    r"|schema) (?:if (?:not )?exists )?([\w.\"`]+)",
    re.IGNORECASE,
)

YAML_MARKS = re.compile(r"^\s*+(?:- )?[\w.\"'/-]+:(?: |$)|^\s*+- \S|^\s*+#|^---$")
YAML_DEFINES = re.compile(r"^( {0,2})([\w.\"'/-]+):(?: |$)")

TOML_MARKS = re.compile(r"^\[{1,2}[\w.\"' :/@-]+\]{1,2}$|^[\w.\"-]+ ?= ?\S")
TOML_DEFINES = re.compile(r"^()(\[{1,2}[\w.\"' :/@-]+\]{1,2})$")

CSS_MARKS = re.compile(r"^\s*+[.#@:*\w][^{};]{0,200}\{$|^\s++[\w-]++: [^;{}]{1,200};$|^\s*+\}$")
CSS_DEFINES = re.compile(r"^( {0,2})([.#@:*\w][^{};]{0,160})\{$")

LANGUAGES: tuple[Language, ...] = (
    Language("PHP", PHP_MARKS, (PHP_DEFINES,), 0.2),
    Language("Python", PYTHON_MARKS, (PYTHON_DEFINES, PYTHON_CONSTANTS)),
    Language("Go", GO_MARKS, (GO_DEFINES, GO_VALUES)),
    Language("Rust", RUST_MARKS, (RUST_DEFINES, RUST_IMPLS, RUST_VALUES)),
    Language(
        "JavaScript/TypeScript",
        SCRIPT_MARKS,
        (SCRIPT_DEFINES, SCRIPT_TESTS, SCRIPT_METHODS, SCRIPT_VALUES),
    ),
    Language("Java/Kotlin/C#", JVM_MARKS, (JVM_TYPES, JVM_METHODS, JVM_FUNS)),
    Language("C/C++", C_MARKS, (C_DEFINES, C_FUNCTIONS, C_MACROS)),
    Language("Ruby", RUBY_MARKS, (RUBY_DEFINES,)),
    Language("shell", SHELL_MARKS, (SHELL_DEFINES,)),
    Language("SQL", SQL_MARKS, (SQL_DEFINES,), 0.2),
    Language("CSS", CSS_MARKS, (CSS_DEFINES,), 0.7),
    Language("TOML/INI", TOML_MARKS, (TOML_DEFINES,), 0.6),
    Language("YAML", YAML_MARKS, (YAML_DEFINES,), 0.8),
)
BY_NAME = {language.name: language for language in LANGUAGES}

BRACED = re.compile(r"^\s*+[}\])]+[;,)]?$|^.{0,300}[;{]$")
"""Lines of any language with braces."""
BRACED_SHARE = 0.5
SEEN = 160


def language_of(rows: Sequence[str]) -> str:
    """The language that these lines are written in; `code` if only their form tells; or nothing."""
    lines = [row for row in rows[:SEEN] if row.strip()]
    counts = [(_marked(lines, one.marks), one) for one in LANGUAGES]
    fit = [(count, one) for count, one in counts if count >= 2 and count >= one.share * len(lines)]
    if fit:
        # YAML and its like accept almost any line, so a language with a stricter mark goes first.
        return max(fit, key=lambda pair: pair[0] * (1 - pair[1].share))[1].name
    braced = _marked(lines, BRACED)
    return "code" if braced >= 3 and braced >= BRACED_SHARE * len(lines) else ""


def _marked(lines: Sequence[str], marks: re.Pattern[str]) -> int:
    return sum(1 for line in lines if marks.match(line))


# Names of what is defined in some lines of code, and headings of prose.


MOST_SYMBOLS = 6
LONGEST_SYMBOL = 48
_DEFINED = re.compile(
    r"(?P<indent>[ \t]{0,40})(?:(?:export|default|pub|pub\(crate\)|public|private|protected|static"
    r"|abstract|async|declare|final|override|unsafe)[ \t]{1,4}){0,4}(?:"
    r"(?:def|function|func|fn|fun)\*?[ \t]{1,4}"
    r"(?:\((?:\w{1,40} )?\*?(?P<owner>\w{1,60})[^()\n]{0,40}\) )?"
    r"(?P<function>\w{1,80})[ \t]{0,4}[(<\[]"
    r"|(?:class|interface|struct|enum|trait|type|module|namespace)[ \t]{1,4}"
    r"(?P<type>[A-Za-z_]\w{0,79})"
    r"|const[ \t]{1,4}(?P<arrow>\w{1,80})[^=\n]{0,80}= (?:async )?(?:\([^()\n]{0,200}\)|\w{1,40})"
    r"[^=\n]{0,80}=>"
    r")"
)
_METHOD = re.compile(
    r"[ \t]{1,40}(?:(?:public|private|protected|static|async|get|set|override|readonly)"
    r"[ \t]{1,4}){1,4}(\w{1,80})[(<]"
)
_HEADING = re.compile(r"#{1,4} ([^\n]{1,200})")


def find_symbols(lines: Iterable[str], path: str = "") -> tuple[str, ...]:
    """Names of what is defined in some lines of code, or the headings of prose, a few at most."""
    found: dict[str, None] = {}
    prose = path.endswith((".md", ".mdx", ".rst", ".markdown"))
    inside = ""
    for line in lines:
        if len(found) >= MOST_SYMBOLS:
            break
        if prose:
            # What looks like a heading in a fence is a comment of some code.
            inside = inside if not line.startswith("```") else "" if inside else "fence"
            name = _heading(line) if not inside else ""
        else:
            name, inside = _definition(line, inside)
        if name:
            found[_shortened(name)] = None
    return tuple(found)


def _shortened(name: str) -> str:
    if len(name) <= LONGEST_SYMBOL:
        return name
    bare = name.rpartition(".")[2] if name.endswith("()") else name
    return bare if len(bare) <= LONGEST_SYMBOL else f"{bare[: LONGEST_SYMBOL - 1]}…"


def _heading(line: str) -> str:
    heading = _HEADING.match(line)
    return heading[1].strip() if heading else ""


def _definition(line: str, inside: str) -> tuple[str, str]:
    """What a line defines, and the class that the lines after it are in."""
    found = _DEFINED.match(line)
    if found is None:
        method = _METHOD.match(line)
        return (_of(inside, method[1]), inside) if method else ("", inside)
    name = found["function"] or found["arrow"]
    if not name:
        return found["type"], found["type"]
    if found["owner"]:
        return _of(found["owner"], name), inside
    if found["indent"]:
        return _of(inside, name), inside
    return f"{name}()", ""


def _of(owner: str, name: str) -> str:
    return f"{owner}.{name}()" if owner else f"{name}()"
