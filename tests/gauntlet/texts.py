"""Texts as they stand in sessions, made from a source of random numbers.

Each function takes a `Random` and returns a text of its kind. The same number always gives the
same text. The runner passes `Random(seed)`; Hypothesis passes a source that it can shrink.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

Make: TypeAlias = Callable[[Random], str]

FOLDERS = ("src", "tests", "lib/core", "app", "./docs", "/repo/pkg", "packages/web/src", "..", "")
STEMS = ("main", "index", "utils", "__init__", "config", "a", "session-store", "naïve", "테스트")
ENDINGS = (".py", ".ts", ".go", ".rs", ".md", ".json", ".toml", "", ".tar.gz", ".test.tsx")
WORDS = (
    "retry",
    "timeout",
    "token",
    "user",
    "parse",
    "schema",
    "window",
    "order",
    "index",
    "cache",
    "handler",
    "request",
    "budget",
    "migration",
    "queue",
    "limit",
    "session",
    "auth",
    "path",
)
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
ODD = (
    "",
    " ",
    "\n",
    "\t \n\t",
    "\r\n\r\n",
    "\x00",
    "a\x00b\x07\x1b[31mred\x1b[0m",
    "\u202eevil\u202c \u2066x\u2069",
    "\ud800",
    "lone \udfff end",
    "\ufeffstart",
    "\u2028\u2029",
    "e\u0301\u0301\u0301",
    "👩‍👩‍👧‍👦" * 3,
    "0",
    "-",
    "--",
    ".",
    "/",
    "[]",
    "{}",
    "null",
    "NaN",
    "```",
    "---",
    "<<<<<<< HEAD",
    "9" * 400,
    "x" * 5_000,
    "²³¹٣४",
)


def number(random: Random) -> str:
    """A number as programs print it, or something that only looks like one."""
    small = str(random.randrange(0, 12))
    return random.choice(
        (small, small, str(random.randrange(10**6)), "-1", "0", "007", "1e9", "²", "٣", "9" * 25)
    )


def word(random: Random) -> str:
    """A word."""
    return random.choice(WORDS)


def path(random: Random) -> str:
    """The path of a file, also as Windows spells it, or with what paths should not have."""
    folder, stem, ending = map(random.choice, (FOLDERS, STEMS, ENDINGS))
    plain = f"{folder}/{stem}{ending}".lstrip("/") or "x"
    kind = random.randrange(12)
    if kind == 0:
        return "C:\\Users\\dev\\" + plain.replace("/", "\\")
    if kind == 1:
        return f"'{plain} copy'"
    if kind == 2:
        return random.choice(
            ("-", "--", "~", "$HOME/x", "*.py", "**/*", "/dev/null", "a:b:c", '""')
        )
    return plain


def _operands(random: Random, most: int = 3) -> str:
    return " ".join(path(random) for _ in range(random.randrange(most + 1)))


def _cut(random: Random) -> str:
    """What stands behind a pipe."""
    return random.choice(
        (
            "head",
            "tail",
            "head -",
            "tail -n",
            "head -n",
            "tail -f",
            "head -5",
            "tail -n +3",
            "head -n -5",
            "tail --lines=4",
            "head --lines=",
            "head -c 100",
            "tail -20r",
            "wc -l",
            "sort | uniq -c | sort -rn | head",
            "less",
            "cat -",
            "tee -a out.log",
            "xargs rm -f",
            "xargs -I{} sed -i s/a/b/ {}",
            "xargs",
            "grep -v -",
            "awk '{print $1}'",
            "sed -n 1p",
            "sed -n '10,$p'",
            "sed -n ',p'",
            "cut -d: -f",
            "jq '.[] | .a'",
            "while read f; do",
            "",
        )
    )


def _search(random: Random) -> str:
    tool = random.choice(("grep", "rg", "egrep", "git grep", "ag", "ack", "zgrep"))
    flags = random.choice(
        (
            "",
            "-rn",
            "-e",
            "-f",
            "-n --",
            "-",
            "-A",
            "-A3 -B",
            "-rnI --include=*.py",
            "--json",
            "-l",
            "-c",
            "-o",
            "-E",
            "-g",
            "--glob",
            "-e a -e",
            "-tpy",
            "-nH",
            "--",
            "-rne",
            "-5",
        )
    )
    pattern = random.choice(
        ("foo", "'a|b'", '"def main"', "-", "--", "''", "$x", "'[", "\\(", "TODO", "'", '"')
    )
    return f"{tool} {flags} {pattern} {_operands(random)}"


def _stream(random: Random) -> str:
    tool = random.choice(("sed", "sed -i", "sed -n", "sed -i.bak", "sed -E -i ''", "gsed -ie"))
    script = random.choice(
        (
            "s/a/b/",
            "'s|a|b|g'",
            "1,5d",
            "'1,20p'",
            "-",
            "'/x/,/y/p'",
            "'5q'",
            "p",
            "''",
            "-e",
            "$d",
            "'1!G;h;$!d'",
            "-f script.sed",
            "s/a",
            "999999999999p",
            "'10,p'",
            "',10p'",
            "1p;3p",
        )
    )
    return f"{tool} {script} {_operands(random)}"


def _perl(random: Random) -> str:
    flags = random.choice(("-pi", "-pi.bak", "-i", "-pie", "-0pi", "-ne", "-pi -e", "-p -i", "-"))
    script = random.choice(("-es/a/b/", "-e's/a/b/'", "'s/a/b/'", "-e", "-Es/a//", "s/a/b/g", "-"))
    tool = random.choice(("perl", "ruby", "python", "python3", "node", "awk"))
    return f"{tool} {flags} {script} {_operands(random)}"


def _find(random: Random) -> str:
    tests = random.choice(
        (
            "-name '*.py'",
            "-type f",
            "-exec rm {} \\;",
            "-exec",
            "-exec sed -i s/a/b/ {} +",
            "-name",
            "-path ./x -prune -o -print",
            "-delete",
            "-mtime -1",
            "-printf '%p\\n'",
            "! -name -",
            "",
        )
    )
    return f"find {_operands(random, 2)} {tests}"


def _git(random: Random) -> str:
    verb = random.choice(
        (
            "diff",
            "diff --stat",
            "show HEAD:",
            "log -p",
            "log --oneline -",
            "checkout --",
            "mv",
            "rm -r --cached",
            "apply -",
            "add -A",
            "commit -m",
            "commit -am 'x'",
            "stash pop",
            "blame",
            "-C . status -s",
            "reset --hard",
            "restore -s HEAD --",
            "grep -n",
            "ls-files",
            "am <",
            "",
        )
    )
    return f"git {verb} {_operands(random)}"


def _write(random: Random) -> str:
    kind = random.randrange(9)
    end = random.choice(("EOF", "'EOF'", '"PY"', "-EOF", "\\END", "", "E O F"))
    close = end.strip("'\"-\\") if random.randrange(5) else "nowhere"
    if kind == 0:
        return f"cat > {path(random)} <<{end}\n{prose(random)}\n{close}\n"
    if kind == 1:
        return f"python - <<{end}\nopen('{path(random)}', 'w').write('x')\n{close}"
    if kind == 2:
        return f"tee {path(random)} {random.choice(('<<<', '<<', '<'))} {word(random)}"
    if kind == 3:
        return f"echo {word(random)} {random.choice(('>', '>>', '>|', '2>', '&>', '>&'))}"
    if kind == 4:
        tool = random.choice(("mv", "cp", "rm", "ln -s", "install -m", "touch", "mkdir -p"))
        return f"{tool} {_operands(random)}"
    if kind == 5:
        return f"patch -p{number(random)} < {path(random)}"
    if kind == 6:
        return f"apply_patch <<{end}\n{patch(random)}\n{close}"
    if kind == 7:
        return f"dd if={path(random)} of={path(random)}"
    return f"truncate -s {number(random)} {_operands(random)}"


def _run(random: Random) -> str:
    return random.choice(
        (
            "pytest -q",
            "pytest tests/a.py::test_x -x",
            "npm test --",
            "npx jest -t",
            "go test ./...",
            "cargo test --",
            "ctest -j",
            "make",
            "make -C",
            "tox -e",
            "python -m",
            "python -c 'print(1)'",
            "mvn -q test",
            "bundle exec rspec",
            "ruff check",
            "mypy -p",
            "uv run pytest",
            "docker run",
            "ssh host",
            "sudo",
            "env",
            "time",
            "timeout",
            "nohup",
            "bash -c",
            "bash -lc 'ls | head'",
            'sh -c "grep - x"',
            "cd",
            "cd -",
            "export A=",
            "A=1",
            "A=1 B=2",
            "source",
            "eval",
            "exec",
            "[ -f x ]",
            "[[ $a =~ b ]]",
            "(cd x && ls)",
            "{ ls; }",
            "!",
            "!!",
            ":",
            "#",
            "# a comment",
        )
    )


def _reader(random: Random) -> str:
    tool = random.choice(
        (
            "cat",
            "head",
            "tail",
            "bat",
            "nl -ba",
            "less",
            "wc",
            "ls -la",
            "tree -L",
            "cat -n",
            "type",
            "head -n",
            "tail -n",
            "od -c",
            "xxd",
            "more",
            "strings",
            "jq .",
            "column -t",
        )
    )
    return f"{tool} {_operands(random)}"


SIMPLE: tuple[Make, ...] = (_search, _stream, _perl, _find, _git, _write, _run, _reader)


def shell(random: Random) -> str:
    """A command line as agents write them, and as they should not."""
    if random.randrange(40) == 0:
        return random.choice(ODD)
    text = random.choice(SIMPLE)(random)
    for _ in range(random.choice((0, 0, 1, 1, 2, 4))):
        join = random.choice((" | ", "|", " && ", " ; ", " || ", "\n", " & ", " |& ", " \\\n "))
        text += join + (_cut(random) if "|" in join else random.choice(SIMPLE)(random))
    kind = random.randrange(16)
    if kind == 0:
        return text + random.choice(("'", '"', "`", "$(", "${", "\\", ")", "}", "<<", ">", "|"))
    if kind == 1:
        return f"{random.choice(('$(', '`', 'if ', 'for f in *; do ', 'function f() { '))}{text}"
    if kind == 2:
        return text[: random.randrange(len(text) + 1)]
    if kind == 3:
        return "".join(random.choice((" ", "-", one, one)) for one in text)
    return text


def script(random: Random) -> str:
    """Several lines of a shell script."""
    return "\n".join(shell(random) for _ in range(random.randrange(1, 5)))


def searched(random: Random) -> str:
    """What a search printed: also many files of one name."""
    many = random.choice((1, 3, 8, 25, 40))
    same = random.randrange(3) == 0
    name = random.choice(("__init__.py", "index.ts", "mod.rs", "a b.py", "Makefile"))
    rows: list[str] = []
    form = random.randrange(7)
    for at in range(many):
        file = f"src/p{at}/{name}" if same else path(random)
        rows += [_match(random, form, file, line) for line in range(random.choice((1, 1, 2, 5)))]
        if form == 5 or random.randrange(20) == 0:
            rows.append(random.choice(("--", "", "Binary file x matches", f"{file}-{at}-context")))
    head = random.choice(("", f"Found {many} files\n", f"{len(rows)} matches\n", "./\n"))
    tail = random.choice(("", "\n", "\n(Results are truncated.)", "\n[12 more lines]"))
    return head + "\n".join(rows) + tail


def _match(random: Random, form: int, file: str, line: int) -> str:
    text = f"    {word(random)}({word(random)}) = {number(random)}"
    if form == 0:
        return f"{file}:{number(random)}:{text}"
    if form == 1:
        return f"{file}:{line + 1}:{line}:{text}"
    if form == 2:
        return file
    if form == 3:
        data = {"path": {"text": file}, "line_number": line, "lines": {"text": text}}
        return json.dumps({"type": random.choice(("match", "begin", "end")), "data": data})
    if form == 4:
        return f"{file}\n{line}:{text}\n" if line == 0 else f"{line}:{text}"
    return f"{file}{random.choice(':-')}{line}{random.choice(':-')}{text}"


def log(random: Random) -> str:
    """Lines of a log, with repeats, traces and other stamps."""
    stamp = random.choice(
        (
            "2026-03-{d:02}T10:{d:02}:00.123Z",
            "[{d:02}:00:01]",
            "Mar {d} 10:00:00 host app[{d}]:",
            "{d}",
            "",
            "ts={d}",
            "2026/03/{d:02} 10:00:00",
            "{d}.{d}.{d}.{d} - -",
        )
    )
    level = ("INFO", "WARN", "ERROR", "DEBUG", "error:", "FATAL", "", "[info]")
    rows = [
        f"{stamp.format(d=at % 28 + 1)} {random.choice(level)} {word(random)} {word(random)} "
        f"{number(random)} ms"
        for at in range(random.choice((1, 5, 40, 400)))
    ]
    if random.randrange(3) == 0:
        rows.insert(random.randrange(len(rows) + 1), trace(random))
    if random.randrange(4) == 0:
        rows += [rows[-1]] * 30
    return "\n".join(rows)


def trace(random: Random) -> str:
    """A stack trace of some language, whole or not."""
    kind = random.randrange(5)
    frames = random.choice((0, 1, 3, 30))
    if kind == 0:
        body = "".join(
            f'  File "{path(random)}", line {number(random)}, in {word(random)}\n    x()\n'
            for _ in range(frames)
        )
        return f"Traceback (most recent call last):\n{body}ValueError: {prose(random)}"
    if kind == 1:
        body = "".join(f"    at {word(random)} ({path(random)}:{at}:7)\n" for at in range(frames))
        return f"TypeError: {word(random)} is not a function\n{body}"
    if kind == 2:
        body = "".join(f"\tat com.x.{word(random)}(A.java:{at})\n" for at in range(frames))
        return (
            f'Exception in thread "main" java.lang.Error\n{body}\t... {frames} more\nCaused by: x'
        )
    if kind == 3:
        body = "".join(
            f"main.{word(random)}(0x{at:x})\n\t{path(random)}:{at} +0x1\n" for at in range(frames)
        )
        return f"panic: {word(random)}\n\ngoroutine 1 [running]:\n{body}"
    return f"thread 'main' panicked at {path(random)}:{number(random)}:5:\nleft: 1\nright: 2"


def tested(random: Random) -> str:
    """What a run of tests printed."""
    kind = random.randrange(9)
    many = random.choice((0, 1, 3, 40))
    names = [f"test_{word(random)}_{at}" for at in range(many)]
    state = ("PASSED", "FAILED", "ERROR", "SKIPPED", "ok", "not ok", "FAIL", "✓", "✕")
    rows = [(name, random.choice(state)) for name in names]
    if kind == 0:
        body = "\n".join(f"{path(random)}::{n} {s} [ {number(random)}%]" for n, s in rows)
        ends = random.choice(
            (
                f"{many} passed in 0.1s",
                f"{number(random)} failed, {number(random)} passed in 1.2s",
                "no tests ran in 0.00s",
                "1 failed, 2 errors",
                "in 3s",
                "",
                "!!!! Interrupted !!!!",
            )
        )
        head = f"==== test session starts ====\ncollected {number(random)} items"
        return f"{head}\n{body}\n==== {ends} ===="
    if kind == 1:
        body = "\n".join(f"  {s} {n} ({number(random)} ms)" for n, s in rows)
        ends = f"Tests: {number(random)} failed, {number(random)} total\nTime: "
        return f"PASS {path(random)}\n{body}\n{ends}"
    if kind == 2:
        body = "\n".join(f"--- {s}: {n} (0.0{at}s)" for at, (n, s) in enumerate(rows))
        return f"=== RUN x\n{body}\nFAIL\t{path(random)}\t0.1s\nok  \tpkg\t(cached)"
    if kind == 3:
        body = "\n".join(f"test {n} ... {s}" for n, s in rows)
        ends = f"test result: FAILED. {number(random)} passed; {number(random)} failed;"
        return f"running {number(random)} tests\n{body}\n{ends}"
    if kind == 4:
        body = "\n".join(
            f"{at}/{many} Test #{at}: {n} ....   {s}    0.0 sec" for at, (n, s) in enumerate(rows)
        )
        ends = f"{number(random)} tests failed out of {number(random)}"
        return f"{body}\n{number(random)}% tests passed, {ends}"
    if kind == 5:
        body = "\n".join(f"{s} {at} - {n}" for at, (n, s) in enumerate(rows))
        return f"TAP version 13\n1..{number(random)}\n{body}\n# pass {number(random)}\n# fail "
    if kind == 6:
        return f"Ran {number(random)} tests in 0.1s\n\nFAILED (failures={number(random)}, errors=)"
    if kind == 7:
        return f"Tests run: {number(random)}, Failures: {number(random)}, Errors: x\nBUILD FAILURE"
    ends = f"{number(random)} examples, {number(random)} failures"
    return f"FAILED {path(random)}::{word(random)} - {trace(random)}\n{ends}"


NONE: dict[str, Any] = {}


def values(random: Random) -> str:
    """JSON: nested, long, broken off, or a value alone."""
    rows: list[dict[str, Any]] = [
        {
            word(random): random.choice((at, None, True, 1.5, word(random), NONE, "x" * 300)),
            "id": at,
        }
        for at in range(random.choice((0, 1, 5, 80)))
    ]
    whole: Any = random.choice(
        (
            rows,
            {"items": rows, "total": len(rows)},
            [[rows]],
            rows[:1],
            {"a": {"b": {"c": rows}}},
            1,
            "x",
            None,
        )
    )
    text = json.dumps(whole, indent=random.choice((None, None, 2)), ensure_ascii=False)
    if random.randrange(4) == 0:
        return "\n".join(json.dumps(row) for row in rows) or "{}"
    if random.randrange(5) == 0:
        return text[: random.randrange(len(text) + 1)]
    return text


def table(random: Random) -> str:
    """A table in some program's form."""
    form = random.randrange(6)
    many, wide = random.choice((0, 1, 4, 60)), random.choice((1, 2, 5))
    rows = [
        [random.choice((word(random), number(random), "")) for _ in range(wide)]
        for _ in range(many)
    ]
    if form == 0:
        return "\n".join(
            ["|".join(["", *row, ""]) for row in [["h"] * wide, ["---"] * wide, *rows]]
        )
    if form == 1:
        return "\n".join("\t".join(row) for row in rows)
    if form == 2:
        return "\n".join(",".join(row) for row in [["a"] * wide, *rows])
    if form == 3:
        return "\n".join(
            "  ".join(one.ljust(12) for one in row) for row in [["NAME"] * wide, *rows]
        )
    if form == 4:
        rule = "+" + "+".join(["-" * 8] * wide) + "+"
        return "\n".join([rule, *("|" + "|".join(row) + "|" for row in rows), rule])
    return "total 12\n" + "\n".join(
        f"-rw-r--r-- 1 dev dev {number(random)} Mar {at} 10:00 {path(random)}" for at in range(many)
    )


def diff(random: Random) -> str:
    """A diff of git, of `diff`, or something near to one."""
    parts: list[str] = []
    for _ in range(random.choice((0, 1, 3, 25))):
        old, new = path(random), path(random)
        head = random.choice(
            (f"diff --git a/{old} b/{new}", "", f"Index: {old}", f"diff --git {old}", "diff --git")
        )
        names = random.choice(
            (f"--- a/{old}\n+++ b/{new}", f"--- {old}\t2026\n+++ /dev/null", "---\n+++", "")
        )
        hunk = random.choice(
            (
                "@@ -1,3 +1,4 @@ def x():",
                "@@ -0,0 +1 @@",
                "@@",
                "@@ -a +b @@",
                "@@ -1 +1 @@",
                "1,2c3",
                "",
            )
        )
        body = "\n".join(
            random.choice("+- \\") + prose(random) for _ in range(random.choice((0, 2, 9)))
        )
        parts.append("\n".join((head, names, hunk, body)))
    return "\n".join(parts) + random.choice(("", "\n", "\n\\ No newline at end of file"))


def patch(random: Random) -> str:
    """A patch in the form that Codex takes, whole or not."""
    verbs = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "*** ")
    parts = [random.choice(("*** Begin Patch", "*** Begin Patch", ""))]
    for _ in range(random.choice((0, 1, 3))):
        parts.append(random.choice(verbs) + random.choice((path(random), "")))
        parts.append(random.choice(("@@", "@@ def x():", "@@ -1 +1 @@", "")))
        parts += [random.choice("+- ") + prose(random) for _ in range(random.randrange(4))]
    return "\n".join([*parts, random.choice(("*** End Patch", "", "*** End of File"))])


SENTENCES = {
    "en": (
        "Please add a retry to the client, but never touch the billing schema.",
        "I decided to use SQLite because it needs no server.",
        "All tests pass now. Next, I will write the migration.",
        "Don't change the public API! Only the handler may be edited.",
        "The error is gone; the cause was a stale cache in `src/cache.py`.",
        "No, use tabs instead of spaces. Actually, forget that.",
        "Can you check why the build fails?",
        "Done: 3/7 steps. Remaining: docs, tests",
    ),
    "de": (
        "Bitte füge dem Client einen weiteren Versuch hinzu, aber ändere das Schema nicht.",
        "Wir nehmen SQLite, weil es keinen Server braucht. Die Tests laufen jetzt alle durch.",
        "Kannst du nachsehen, warum der Build fehlschlägt?",
    ),
    "zh": ("请修复登录超时的问题，但不要修改数据库结构。", "所有测试都通过了。下一步：编写文档。"),
    "ja": (
        "ログインのタイムアウトを直してください。スキーマは変更しないでください。",
        "テストはすべて通りました。",
    ),
    "ar": (
        "يرجى إصلاح مهلة تسجيل الدخول، ولكن لا تغيّر مخطط قاعدة البيانات.",
        "نجحت كل الاختبارات.",
    ),
    "ru": ("Исправь тайм-аут входа, но не трогай схему базы данных.", "Все тесты проходят."),
}
"""Sentences by language: what is asked for, forbidden, decided and done."""


def prose(random: Random) -> str:
    """A sentence or several, in one of six languages."""
    kind = random.randrange(14)
    if kind == 0:
        return random.choice(ODD)
    tongue = random.choice(tuple(SENTENCES))
    many = random.choice((1, 1, 2, 6))
    text = " ".join(random.choice(SENTENCES[tongue]) for _ in range(many))
    if kind == 1:
        return f"- {text}\n- [ ] {word(random)}\n- [x] {word(random)}\n1. {text}"
    if kind == 2:
        return f"# {word(random)}\n\n{text}\n\n```\n{shell(random)}\n```\n"
    if kind == 3:
        lead = random.choice(("Next: ", "TODO: ", "I decided to use ", "- [ ] ", "Error: ", ""))
        return f"{text}\n{lead}{ruled(random)}"
    return text


def slashed(random: Random) -> str:
    """What a harness puts into the user's place: commands, reminders, notices."""
    inner = random.choice((prose(random), word(random), "", shell(random)))
    form = random.choice(
        (
            "<command-name>/{w}</command-name>\n<command-args>{t}</command-args>",
            "/{w} {t}",
            "<system-reminder>{t}</system-reminder>",
            "<local-command-stdout>{t}</local-command-stdout>",
            "Caveat: The messages below were generated by the user running local commands. {t}",
            "[Request interrupted by user]",
            "[Request interrupted by user for tool use]",
            "!{t}",
            "# {t}",
            "<user-prompt-submit-hook>{t}</user-prompt-submit-hook>",
            "<environment_context>{t}</environment_context>",
            "<command-name>{t}",
            "<session_context>{t}",
            "This session is being continued from a previous conversation. {t}",
            "<bash-input>{t}</bash-input>",
            "@{w} {t}",
            "/clear",
            "/compact {t}",
            "{t}</system-reminder>",
        )
    )
    return form.format(t=inner, w=word(random))


def code(random: Random) -> str:
    """A file of source text."""
    lines = [
        random.choice(
            (
                f"def {word(random)}({word(random)}):",
                f"    return {number(random)}",
                f"class {word(random)}:",
                f"export function {word(random)}() {{",
                "}",
                f"import {word(random)}",
                "",
                f"# {prose(random)}",
                f"# {ruled(random)}",
                f"func {word(random)}() error {{",
                f"{at:>6}\t{word(random)} = {number(random)}",
                "\t" * 30,
            )
        )
        for at in range(random.choice((0, 1, 8, 120)))
    ]
    return "\n".join(lines)


def listed(random: Random) -> str:
    """Names of files, a line each or as a tree."""
    rows = [path(random) for _ in range(random.choice((0, 1, 6, 90)))]
    mark = random.choice(("", "├── ", "│   └── ", "  - ", "./", "?? ", " M ", "drwx "))
    return "\n".join(mark + row for row in rows)


def page(random: Random) -> str:
    """A page of HTML or Markdown, or a blob."""
    return random.choice(
        (
            f"<!DOCTYPE html><html><body><p>{prose(random)}</p><table><td>{word(random)}</table>",
            f"---\ntitle: {word(random)}\n---\n# {prose(random)}\n\n> {prose(random)}\n",
            "iVBORw0KGgo" + "A" * random.choice((10, 4_000)),
            f"data:image/png;base64,{'QUJD' * 300}",
            "\x7fELF" + "\x00\x01" * 200,
            f"[{word(random)}]\n{word(random)} = {number(random)}\n",
            f"{word(random)}:\n  - {word(random)}: {prose(random)}\n",
        )
    )


def ruled(random: Random) -> str:
    """A line of punctuation, with a word behind it or before it."""
    letters = random.choice((PUNCTUATION, "=", "-", "#", "*/", "._", "|"))
    line = "".join(random.choice(letters) for _ in range(random.choice((40, 60, 61, 80, 130))))
    told = random.choice((word(random), "a", number(random)))
    return random.choice(
        (f"{line} {told}", f"{line}{told}", f"{told} {line}", f"{line} {told} {line}")
    )


def edited(random: Random) -> str:
    """What an edit puts in place: often nothing but punctuation."""
    if random.randrange(3) == 0:
        return ruled(random)
    if random.randrange(2):
        return "".join(
            random.choice(PUNCTUATION + " ") for _ in range(random.choice((0, 1, 60, 61, 200)))
        )
    return random.choice((code, prose, values))(random)


OUTPUTS: tuple[Make, ...] = (
    searched,
    log,
    trace,
    tested,
    values,
    table,
    diff,
    patch,
    prose,
    code,
    listed,
    page,
    slashed,
)
"""What tools print."""


def output(random: Random) -> str:
    """What a tool printed; sometimes several kinds in one text, cut short, or with odd letters."""
    text = random.choice(OUTPUTS)(random)
    kind = random.randrange(14)
    if kind == 0:
        return text + "\n" + random.choice(OUTPUTS)(random)
    if kind == 1:
        return text[: random.randrange(len(text) + 1)]
    if kind == 2:
        at = random.randrange(len(text) + 1)
        return text[:at] + random.choice(ODD) + text[at:]
    if kind == 3:
        return text.replace("\n", random.choice(("\r\n", "\r", "\x0b", "\u2028")))
    return text


def pasted(random: Random) -> str:
    """A user's words around something long that they pasted."""
    text = "\n".join(output(random) for _ in range(random.choice((1, 4, 12))))
    fence = random.choice(("", "```\n", "\n\n"))
    return f"{prose(random)}\n{fence}{text}\n{fence}{random.choice(('', prose(random)))}"


def anything(random: Random) -> str:
    """A text of any kind."""
    return random.choice((shell, script, output, output, pasted, slashed, edited, prose))(random)


KINDS: dict[str, Make] = {
    make.__name__: make
    for make in (shell, script, *OUTPUTS, output, edited, pasted, path, number, word, anything)
}
"""Every kind of text, by name."""
