"""Detect the programming language of some lines, and find the names that they define.

Each line is matched from its start by a regular expression, without a parser: people mostly write
one definition on a line.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.text.clip import clip
from holdfast.text.patterns import Pattern


class Language(Struct, frozen=True):
    """The patterns that detect a language and its definitions."""

    name: str
    marks: Pattern[str]
    """Matches lines that are typical of the language."""
    defines: tuple[Pattern[str], ...]
    """Match lines that define a name, which is the last group; types and functions first."""
    share: float = 0.12
    """The smallest share of lines that must match `marks`."""


PYTHON_MARKS = Pattern(
    r"^(?:import \w[\w., ]*$|from \S+ import |@\w|if __name__|(?:async )?def \w+\("
    r"|class \w+.{0,200}:$)"
    r"|^\s++(?:(?:async )?def \w+\(|elif .{0,200}:$|except\b.{0,200}:$|self\.\w|if .{1,200}:$"
    r"|for .{1,200} in .{1,200}:$)"
)
PYTHON_DEFINES = Pattern(r"^( {0,8}|\t)(?:async def|def|class) (\w+)")
PYTHON_CONSTANTS = Pattern(r"^()([A-Z_][A-Z0-9_]{2,60})(?:: [^=]{1,80})? = ")

SCRIPT_MARKS = Pattern(
    r"^(?:import (?:type )?[\w{*'\"]|export |(?:const|let|var) [\w{\[]|(?:async )?function\b"
    r"|interface \w|type \w+ =|module\.exports|declare )"
    r"|^\s++(?:const|let) [\w{\[]|^\s*+\}\)?[;,]$|^\s*+(?:describe|it|test|expect)\(|^\s++(?:await"
    r"|return) .{0,200};$|^\s++\w++\??: \w.{0,100};$"
)
SCRIPT_DEFINES = Pattern(
    r"^( {0,4}|\t)(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?"
    r"|class|interface|type|enum|namespace) (\w+)"
)
SCRIPT_VALUES = Pattern(r"^()(?:export )?(?:const|let|var) (\w+)")
SCRIPT_METHODS = Pattern(
    r"^( {2}| {4}|\t)(?:(?:public|private|protected|static|async|override|get|set|readonly) )*+"
    r"(?!(?:if|for|while|switch|catch|return|function|await|else|super|expect|describe|it"
    r"|test)\b)(#?\w+)(?:<[^<>()]{0,80}>)?\([^;]{0,300}\{$"
)
SCRIPT_TESTS = Pattern(
    r"^( {0,8}|\t{0,2})(?:describe|it|test)(?:\.\w{1,12})?\((['\"`][^'\"`]{1,160})"
)

GO_MARKS = Pattern(
    r"^(?:package \w+$|func |import \(|type \w+ |//go:)|^\t++(?:if err != nil|return\b|defer "
    r"|[\w.]+(?:, [\w.]+)* := |for .{0,100} range |(?:if )?err :?= |(?:\} else )?if .{1,200} \{$"
    r"|t\.\w+\(|fmt\.|\w+\.\w+\(.{0,200}\)$)"
)
GO_DEFINES = Pattern(r"^()(?:func (?:\([^)]{0,80}\) )?|type )(\w+)")
GO_VALUES = Pattern(r"^()(?:const|var) (\w+)")

RUST_MARKS = Pattern(
    r"^(?:use \w+(?:::|;)|mod \w+|impl\b|#!?\[)|^\s*+(?:pub(?:\(\w+\))? |fn \w+|let mut "
    r"|match .{1,100} \{$|#\[\w)"
)
RUST_DEFINES = Pattern(
    r"^( {0,4})(?:pub(?:\(\w{1,8}\))? )?(?:default )?(?:const )?(?:async )?(?:unsafe )?(?:fn"
    r"|struct|enum|trait|mod|type|union|macro_rules!) (\w+)"
)
RUST_IMPLS = Pattern(r"^()(impl\b[^{]{1,120})")
RUST_VALUES = Pattern(r"^()(?:pub(?:\(\w{1,8}\))? )?(?:const|static) (?:mut )?(\w+)")

JVM_MARKS = Pattern(
    r"^(?:package [\w.]+;?$|import (?:static )?[\w.*]+;?$|using [\w.]+;|namespace [\w.]+)"
    r"|^\s*+(?:public|private|protected|internal) |^\s++@Override|^\s*+(?:(?:override |suspend "
    r"|private )*+fun |data class )"
)
JVM_TYPES = Pattern(
    r"^( {0,8}|\t{0,2})(?:(?:public|private|protected|internal|static|final|abstract|sealed|data"
    r"|open|partial|inner|export) )*+"
    r"(?:class|interface|enum|record|object|struct|namespace|annotation class|enum class) (\w+)"
)
JVM_METHODS = Pattern(
    r"^( {2,8}|\t{1,2}|)(?:(?:public|private|protected|internal|static|final|abstract|override"
    r"|virtual|async|suspend|open|synchronized|inline) )++"
    r"(?:fun )?(?:[\w<>\[\].?,]{1,80} ){0,2}(\w+) ?\("
)
JVM_FUNS = Pattern(r"^( {0,8}|\t{0,2})fun (?:<[^<>]{0,60}> )?([\w.]+)\(")

C_MARKS = Pattern(
    r"^#\s*(?:include|define|ifn?def|if|endif|pragma)\b|^(?:static|void|int|char|struct|typedef"
    r"|template|namespace|extern|using namespace|class)\b"
)
C_DEFINES = Pattern(r"^()(?:typedef )?(?:struct|class|enum(?: class)?|union|namespace) (\w+)")
C_FUNCTIONS = Pattern(
    r"^()(?!(?:return|else|if|for|while|switch|using"
    r"|typedef)\b)[A-Za-z_][\w:<>,*& ]{0,120}[ *&]([\w:~]+)\([^;]{0,300}$"
)
C_MACROS = Pattern(r"^()#define (\w+)")

RUBY_MARKS = Pattern(
    r"^(?:require|require_relative) ['\"]|^\s*+(?:end$|attr_\w+ |module [A-Z]"
    r"|def \w+[?!]?(?:\(.{0,100}\))?$|.{0,80} do(?: \|.{0,40}\|)?$)"
)
RUBY_DEFINES = Pattern(r"^( {0,6})(?:def|class|module) ([\w.:?!=]+)")

PHP_MARKS = Pattern(
    r"^<\?php|^\s*+(?:\$\w+ ?=|(?:public|private|protected)?(?: static)? ?function \w|use [\w\\]+;"
    r"|namespace [\w\\]+;|echo )"
)
PHP_DEFINES = Pattern(
    r"^( {0,4})(?:(?:abstract|final|public|private|protected|static) )*+(?:class|interface|trait"
    r"|enum|function) (\w+)"
)

SHELL_MARKS = Pattern(
    r"^#!.{0,40}\b(?:ba|z|da)?sh\b|^\s*+(?:fi|done|esac)$|^\s*+(?:if \[|echo [\"'$]|export \w+="
    r"|local \w+|set -[euxo]|then$|source |[A-Z_]+=[\"$'])"
)
SHELL_DEFINES = Pattern(r"^( {0,4})(?:function )?([\w:-]+) ?\(\) ?\{?$")

SQL_MARKS = Pattern(
    r"^\s*+(?:create (?:table|index|view|or|unique|function|policy)|select\b|insert into"
    r"|alter table|from \w|where \w|(?:left |inner )?join |group by|order by|values ?\(|drop )",
    re.IGNORECASE,
)
SQL_DEFINES = Pattern(
    r"^()(?:create|alter|drop) (?:or replace )?(?:unique )?(?:temp(?:orary)? )?(?:materialized )?"
    r"(?:table|index|view|function|procedure|trigger|type|policy"
    r"|schema) (?:if (?:not )?exists )?([\w.\"`]+)",
    re.IGNORECASE,
)

YAML_MARKS = Pattern(r"^\s*+(?:- )?[\w.\"'/-]+:(?: |$)|^\s*+- \S|^\s*+#|^---$")
YAML_DEFINES = Pattern(r"^( {0,2})([\w.\"'/-]+):(?: |$)")

TOML_MARKS = Pattern(r"^\[{1,2}[\w.\"' :/@-]+\]{1,2}$|^[\w.\"-]+ ?= ?\S")
TOML_DEFINES = Pattern(r"^()(\[{1,2}[\w.\"' :/@-]+\]{1,2})$")

CSS_MARKS = Pattern(r"^\s*+[.#@:*\w][^{};]{0,200}\{$|^\s++[\w-]++: [^;{}]{1,200};$|^\s*+\}$")
CSS_DEFINES = Pattern(r"^( {0,2})([.#@:*\w][^{};]{0,160})\{$")

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

BRACED = Pattern(r"^\s*+[}\])]+[;,)]?$|^.{0,300}[;{]$")
"""Matches lines of any language with braces: `});` or `if (x) {`, but not `x = 1`."""
BRACED_SHARE = 0.5
MAX_LINES_READ = 160


def language_of(rows: Sequence[str]) -> str:
    """Return the language of some lines; `code` if they only look like code; empty if not."""
    lines = [row for row in rows[:MAX_LINES_READ] if row.strip()]
    counts = [(_count_matches(lines, language.marks), language) for language in LANGUAGES]
    candidates = [
        (count, language)
        for count, language in counts
        if count >= 2 and count >= language.share * len(lines)
    ]
    if candidates:
        # YAML and similar formats match almost any line, so prefer languages with stricter marks.
        return max(candidates, key=lambda pair: pair[0] * (1 - pair[1].share))[1].name
    braced = _count_matches(lines, BRACED)
    return "code" if braced >= 3 and braced >= BRACED_SHARE * len(lines) else ""


def _count_matches(lines: Sequence[str], marks: Pattern[str]) -> int:
    return sum(1 for line in lines if marks.match(line))


# Names that lines of code define, and headings of prose.


MAX_SYMBOLS = 6
MAX_SYMBOL_CHARS = 48
_DEFINITION = Pattern(
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
_METHOD = Pattern(
    r"[ \t]{1,40}(?:(?:public|private|protected|static|async|get|set|override|readonly)"
    r"[ \t]{1,4}){1,4}(\w{1,80})[(<]"
)
_HEADING = Pattern(r"#{1,4} ([^\n]{1,200})")


def find_symbols(lines: Iterable[str], path: str = "") -> tuple[str, ...]:
    """Return the names that lines of code define, or the headings of prose, a few at most."""
    symbols: dict[str, None] = {}
    prose = path.endswith((".md", ".mdx", ".rst", ".markdown"))
    inside = ""
    for line in lines:
        if len(symbols) >= MAX_SYMBOLS:
            break
        if prose:
            # A line in a fence that looks like a heading is a comment in code.
            inside = inside if not line.startswith("```") else "" if inside else "fence"
            name = _heading(line) if not inside else ""
        else:
            name, inside = _definition(line, inside)
        if name:
            symbols[_shorten(name)] = None
    return tuple(symbols)


def _shorten(name: str) -> str:
    if len(name) <= MAX_SYMBOL_CHARS:
        return name
    bare = name.rpartition(".")[2] if name.endswith("()") else name
    return clip(bare, MAX_SYMBOL_CHARS)


def _heading(line: str) -> str:
    heading = _HEADING.match(line)
    return heading[1].strip() if heading else ""


def _definition(line: str, inside: str) -> tuple[str, str]:
    """Return the name that a line defines, and the class that the next lines are in."""
    found = _DEFINITION.match(line)
    if found is None:
        method = _METHOD.match(line)
        return (_qualified(inside, method[1]), inside) if method else ("", inside)
    name = found["function"] or found["arrow"]
    if not name:
        return found["type"], found["type"]
    if found["owner"]:
        return _qualified(found["owner"], name), inside
    if found["indent"]:
        return _qualified(inside, name), inside
    return f"{name}()", ""


def _qualified(owner: str, name: str) -> str:
    return f"{owner}.{name}()" if owner else f"{name}()"
