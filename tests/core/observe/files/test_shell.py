import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.observe.files.bash import MAX_COMMANDS, ShellCommand, Word, commands_of
from holdfast.core.observe.files.commands import ShellState
from holdfast.core.observe.files.patches import FileAct
from holdfast.core.observe.files.shell import acts_of_script, exit_code


def done(command: str, output: str = "", *, base: str = "", failed: bool = False) -> list[str]:
    """What a command did, in short: verb, path, where from, lines."""
    return [short(act) for act in acts_of_script(command, ShellState(base, output, failed))]


def short(act: FileAct) -> str:
    lines = f" {act.first}-{act.last}" if act.first or act.last else ""
    found = " ~" if act.searched else ""
    return f"{act.verb} {act.path}{f' < {act.moved_from}' if act.moved_from else ''}{lines}{found}"


@pytest.mark.parametrize(
    ("command", "acts"),
    [
        ("echo a > x.txt", ["write x.txt"]),
        ("echo a >> x.txt", ["edit x.txt"]),
        ("make 2>&1", []),
        ("make > /dev/null 2>&1", []),
        ("make &> log.txt", ["write log.txt"]),
        ("make 2> err.log", ["write err.log"]),
        ("make >| log.txt", ["write log.txt"]),
        ("make >& log.txt", ["write log.txt"]),
        ("make >&2; make >", []),
        ("echo a | tee x.txt", ["write x.txt"]),
        ("echo a | sudo tee -a /etc/x.conf /dev/stderr", ["edit /etc/x.conf"]),
        ("mkdir -p d/e", ["folder d/e"]),
        ("touch x.py", ["write x.py"]),
        ("mv a.py b.py", ["move b.py < a.py"]),
        ("mv a.py b.py lib/", ["move lib/a.py < a.py", "move lib/b.py < b.py"]),
        ("mv *.py lib/", []),
        ("mv", []),
        ("cp a.py b.py", ["write b.py"]),
        ("cp -r a b", []),
        ("install -m 755 a.sh /bin/a.sh", ["write /bin/a.sh"]),
        ("rm -f a.py 'b c.py'", ["delete a.py", "delete b c.py"]),
        ("rm *.pyc $X `ls`", []),
        ("rm -- -x.py", ["delete -x.py"]),
        ("ln -s ../a.py b.py", ["write b.py"]),
        ("ln -s a", []),
        ("curl -sSL https://x.io/a -o a.tgz", ["write a.tgz"]),
        ("wget -O - https://x.io", []),
        ("git mv a.py b.py", ["move b.py < a.py"]),
        ("git rm a.py && git rm --cached b.py", ["delete a.py"]),
        ("git checkout -- a.py", ["restore a.py"]),
        ("git checkout main", []),
        ("git checkout -b fix/a.py", []),
        ("git checkout a.py", ["restore a.py"]),
        ("git -c x=y -C /w restore a.py", ["restore /w/a.py"]),
        ("git restore --staged a.py", []),
        ("git --no-pager diff", []),
        ("git", []),
    ],
)
def test_a_command_does_to_files_what_its_words_say(command: str, acts: list[str]) -> None:
    assert done(command) == acts


@pytest.mark.parametrize(
    ("command", "acts"),
    [
        ("cat a.py b.py", ["read a.py", "read b.py"]),
        ("cat -", []),
        ("nl -ba a.py", ["read a.py"]),
        ("head -20 a.py", ["read a.py 1-20"]),
        ("head -n 5 a.py", ["read a.py 1-5"]),
        ("head a.py", ["read a.py 1-10"]),
        ("tail -n +40 a.py", ["read a.py 40-0"]),
        ("tail -20 a.py", ["read a.py ~"]),
        ("sed -n '3,9p;20p' a.py", ["read a.py 3-9", "read a.py 20-20"]),
        ("sed -n '3,$p' a.py", ["read a.py 3-0"]),
        ("sed 's/a/b/' a.py", ["read a.py ~"]),
        ("cat a.py | sed -n 3,9p", ["read a.py 3-9"]),
        ("cat a.py | head -n 7 | wc", ["read a.py 1-7"]),
        ("cat a.py | wc -l", ["read a.py ~"]),
        ("cat a.py && cat b.py", ["read a.py", "read b.py"]),
        ("grep -n 'x(' a.py", ["read a.py ~"]),
        ("grep -e x -m 3 a.py", ["read a.py ~"]),
        ("grep -rn x src a/b.py", ["read a/b.py ~"]),
        ("grep -nC 5 'a b' a.py", ["read a.py ~"]),
        ("grep -ne x a.py", ["read a.py ~"]),
        ('sed -n "/$x/p" a.py', ["read a.py ~"]),
        ("sed -ne 3,4p a.py", ["read a.py 3-4"]),
        ("rg x src", []),
        ("grep x *.py", []),
        ("awk 'NR>3 {print $1}' a.py", ["read a.py ~"]),
        ('awk "/x/ {print $1}" src/a.py plain', ["read src/a.py ~"]),
        ("tail +5 a.py", ["read a.py 5-0"]),
        ("jq .name package.json", ["read package.json ~"]),
        ('Get-Content -Path "C:\\w\\a.md"', ["read C:\\w\\a.md"]),
        ("type C:\\w\\a.md", ["read C:\\w\\a.md"]),
        ("ls src; wc -l a.py; python a.py", []),
    ],
)
def test_a_command_reads_the_files_that_it_prints(command: str, acts: list[str]) -> None:
    assert done(command) == acts


def test_an_edit_in_place_says_how() -> None:
    assert acts_of_script("sed -i '' 's|a|b|g' x.ts y.ts", ShellState()) == (
        FileAct("edit", "x.ts", how="sed -i s|a|b|g"),
        FileAct("edit", "y.ts", how="sed -i s|a|b|g"),
    )
    assert acts_of_script("sed -E -i.bak -e 's/a/b/' -e 3d x.ts", ShellState()) == (
        FileAct("edit", "x.ts", how="sed -i s/a/b/ 3d"),
    )
    assert acts_of_script("perl -pi -e 's/a/b/' x.pl *.pm", ShellState()) == (
        FileAct("edit", "x.pl", how="perl -pi s/a/b/"),
    )
    assert done("perl -e 'print 1' x.pl") == []
    assert done('sed -i "s/$x/y/" a.ts *.ts $f') == ["edit a.ts"]
    long = acts_of_script(f"sed --in-place 's/{'a' * 99}/b/' x.ts", ShellState())
    assert [len(act.how) for act in long] == [70]


@pytest.mark.parametrize(
    ("command", "acts"),
    [
        ("cat a.py | head", ["read a.py 1-10"]),
        ("cat a.py | tail", ["read a.py ~"]),
        ("head", []),
        ("tail -", []),
        ("tail -n +² a.py", ["read a.py ~"]),
        ("grep -", []),
        ("rg - a.py", ["read a.py ~"]),
        ("sed -", []),
        ("perl -pi -es/a/b/ f", ["edit f"]),
        ("perl -pie", []),
        ("perl -i", []),
    ],
)
def test_a_command_without_its_usual_words_is_read_as_far_as_it_goes(
    command: str, acts: list[str]
) -> None:
    assert done(command) == acts


def test_a_here_document_is_the_text_of_its_file() -> None:
    command = "cat > a.py <<'EOF'\ndef f():\n    return '$x > y'\nEOF\npython a.py"
    text = "def f():\n    return '$x > y'\n"
    assert acts_of_script(command, ShellState()) == (
        FileAct("write", "a.py", added=2, symbols=("f()",), text=text),
    )
    assert done("cat <<EOF >> a.py\nx\nEOF\nrm b.py") == ["edit a.py", "delete b.py"]
    assert done("tee a.py <<-EOF\n\tx\n\tEOF\nrm b.py") == ["write a.py", "delete b.py"]
    assert done("cat > a.py <<EOF\nnever ends") == ["write a.py"]
    assert done("cat <<") == []
    assert done("<<EOF\nx > y\nEOF\nrm b.py") == ["delete b.py"]


def test_a_script_in_a_here_document_writes_what_it_opens_to_write() -> None:
    code = """python3 - <<'EOF'
import pathlib
path = 'src/a.py'
text = open(path).read()
open(path, 'w').write(text.replace('x', 'y'))
with open('made.json', mode='w') as file: pass
pathlib.Path('note.md').write_text('x > y.txt')
open(unknown, 'w')
EOF"""
    assert done(code) == ["edit src/a.py", "write made.json", "write note.md"]
    assert done("python - <<EOF\nprint('a > b')\nEOF") == []
    assert done("""python -c "open('a.txt', 'w')" """) == ["write a.txt"]
    assert done("cat > fix.py <<EOF\nopen('a.txt', 'a')\nEOF\npython fix.py") == [
        "write fix.py",
        "write a.txt",
    ]


def test_changing_the_folder_changes_where_relative_paths_lie() -> None:
    assert done("cd /w/x && cat a.py; cat /b.py") == ["read /w/x/a.py", "read /b.py"]
    assert done("cat a.py; cd lib; cat b.py", base="/w") == ["read /w/a.py", "read /w/lib/b.py"]
    assert done("cd $HOME/x && cat a.py ~/b.py && mv /c /d") == ["read ~/b.py", "move /d < /c"]
    assert done("cd - ; rm a; cd sub; rm b; mv c /d") == []


def test_prefixes_and_keywords_do_not_hide_the_program() -> None:
    assert done("FOO=1 sudo -u me env A=b timeout -s 9 30 rm a.py") == ["delete a.py"]
    assert done("if true; then rm a.py; fi; ! cat b.py") == ["delete a.py", "read b.py"]
    assert done("FOO=1") == []
    assert done("> made.txt") == ["write made.txt"]


def test_a_shell_in_a_shell_is_read_too() -> None:
    assert done("bash -lc 'cd /w && rm a.py'") == ["delete /w/a.py"]
    assert done('bash -c "$X"') == []
    assert done("sh <<'EOF'\nrm a.py\nEOF") == ["delete a.py"]
    assert done("bash run.sh") == []
    deep = "rm a.py"
    for _ in range(5):
        deep = "bash -c '" + deep.replace("'", "'\\''") + "'"
    assert done(deep) == []


def test_variables_are_put_in_where_the_command_sets_them() -> None:
    assert done('F=lib/a.py; sed -i s/a/b/ "$F" ${F}.bak') == ["edit lib/a.py", "edit lib/a.py.bak"]
    assert done('for f in a.go b.go; do rm "$f"; done') == ["delete a.go", "delete b.go"]
    assert done("for f in a.go b.go; do rm x/$f; done") == ["delete x/a.go", "delete x/b.go"]
    assert done("for f in a.go b.go; do cp $f x/$f; sort $f > $f; done") == []
    assert done("for f in *.go; do rm $f; done; X=$(ls); rm $X ${Y} $1 $@") == []


def test_what_another_command_prints_names_no_file() -> None:
    command = "git commit -m \"$(cat <<'EOF'\nDon't (touch > a.py\nEOF\n)\" && rm b.py"
    assert done(command) == ["delete b.py"]
    assert done("cat <(sort a.py) `ls ')'` $(echo \"a)\" 'b)' \\) (c)) b.py") == ["read b.py"]
    assert done('cat $(echo "a\\")b") c.py') == ["read c.py"]
    assert done("cat <<< text; rm a.py") == ["delete a.py"]
    assert done("echo $'a'; rm {a,b}.py {} x#y.py # rm c.py") == ["delete {}", "delete x#y.py"]


@pytest.mark.parametrize(
    "text", ["'", '"', '"\\', "$(", '$("', "$('", "$(<<A", "`", "\\", "<", "&"]
)
def test_a_command_that_breaks_off_does_not_break_the_reader(text: str) -> None:
    assert done(f"rm a.py; echo {text}") == ["delete a.py"]


@given(st.text("ab./ '\"\\$`|&;<>()#*?[{\n-=", max_size=60))
def test_any_text_can_be_taken_apart(text: str) -> None:
    for command in commands_of(text):
        assert command.words or command.redirects


@given(st.text(min_size=1).filter(lambda text: "'" not in text and "\0" not in text))
def test_a_quoted_word_is_what_stands_in_the_quotes(text: str) -> None:
    assert commands_of(f"echo '{text}'") == (ShellCommand((Word("echo"), Word(text))),)


def test_quotes_escapes_and_line_ends_make_one_word() -> None:
    assert commands_of('a\\ b"c\\"d\\e"f\\\n g') == (ShellCommand((Word('a bc"d\\ef'), Word("g"))),)


def test_a_command_after_a_failed_one_did_not_run() -> None:
    assert done("test -f a.py || rm b.py") == []


def test_a_complaint_in_the_output_takes_the_act_back() -> None:
    assert done("cat a.py; cat b.py", "cat: a.py: No such file or directory\ntext") == ["read b.py"]
    assert done("echo x > d/a.py", "bash: d/a.py: No such file or directory") == []
    assert done("git checkout a.py", "error: pathspec 'a.py' did not match any file") == []
    assert done("git checkout v1.2", "Switched to branch 'v1.2'") == []
    assert done("cat a.py", "cat: whiskers in a.py") == ["read a.py"]


FAILED = "Exit code 1\nTraceback"


def test_of_a_chain_that_failed_only_what_surely_ran_counts() -> None:
    write = "cat > a.py <<EOF\nx\nEOF\n"
    assert done(f"{write}python a.py", FAILED, failed=True) == ["write a.py"]
    assert done(f"cd d && {write}python a.py", FAILED, failed=True) == ["write d/a.py"]
    assert done(f"make && {write}python a.py", FAILED, failed=True) == []
    assert done(f"set -e\n{write}python a.py", FAILED, failed=True) == []
    assert done("rm a.py 2>/dev/null; false", FAILED, failed=True) == []
    assert done("rm a.py", FAILED, failed=True) == []
    assert done("cat a.py | grep x", FAILED, failed=True) == []
    assert done(f"{write}python a.py", "The user said no", failed=True) == []


PATCH = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"


def test_a_patch_is_read_from_the_file_that_holds_it() -> None:
    made = f"cat > /t/fix.patch <<'EOF'\n{PATCH}EOF\n"
    edit = "edit x.py"
    assert done(f"{made}patch -p1 < /t/fix.patch")[1:] == [edit]
    assert done(f"{made}patch -p1 -i /t/fix.patch")[1:] == [edit]
    assert done(f"{made}git apply /t/fix.patch")[1:] == [edit]
    assert done(f"{made}git apply -R /t/fix.patch")[1:] == ["restore x.py"]
    assert done(f"{made}git apply --check /t/fix.patch")[1:] == []
    assert done(f"{made}patch --dry-run -p1 < /t/fix.patch")[1:] == []
    assert done(f"{made}cp /t/fix.patch b.patch && git apply b.patch")[2:] == [edit]
    assert done(f"git apply <<'EOF'\n{PATCH}EOF") == [edit]
    assert done("git apply gone.patch; git apply") == []


def test_a_patch_that_nobody_saw_is_known_by_what_it_says() -> None:
    output = "patching file a/b.py\npatching file 'c d.py'\n"
    assert done("patch -p1 < x.patch", output) == ["edit a/b.py", "edit c d.py"]


def test_the_envelope_of_a_patch_may_stand_in_a_command() -> None:
    envelope = "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch"
    assert done(f"apply_patch <<'EOF'\n{envelope}\nEOF") == ["create a.py"]
    assert done(f"apply_patch '{envelope}'") == ["create a.py"]


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("Exit code 2\nx", 2),
        ("<returncode>0</returncode>", 0),
        ("Chunk ID: 1\nProcess exited with code 1\nOutput:", 1),
        ("x" * 900 + "\n\nCommand exited with code 3", 3),
        ('{"output":"","metadata":{"exit_code":1}}', 1),
        ("no word of it", None),
    ],
)
def test_an_exit_code_is_known_however_it_is_printed(output: str, code: int | None) -> None:
    assert exit_code(output) == code


def test_a_long_command_takes_no_longer_than_its_length() -> None:
    words = " ".join(f"f{n}.py" for n in range(200_000))
    assert len(acts_of_script(f"rm {words}", ShellState())) < 50_000
    assert len(acts_of_script("rm a.py;" * 9_000, ShellState())) == MAX_COMMANDS
    for run in ("*", "''", '"$x', "$("):
        assert done(f"rm a.py; rm {run * 200_000}; rm b.py") == ["delete a.py"]
    assert done(f"cat > a.txt <<EOF\n{'x y z' * 200_000}\nEOF\nrm b.py") == [
        "write a.txt",
        "delete b.py",
    ]
