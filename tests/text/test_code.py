import pytest

from holdfast.core.shrink.outline.outline import Outline, outline

FILES = (
    (
        "import { x } from './x';\n\nexport class Store {\n  async load(id: string) {\n"
        "    return x(id);\n  }\n}\n\nexport const LIMIT = 3;\n",
        "JavaScript/TypeScript code, 9 lines: defines Store, 1 function, 1 constant",
        ("L3 export class Store", "L4   async load(id: string)", "L9 export const LIMIT = 3;"),
    ),
    (
        "package main\n\ntype Store struct {\n\tn int\n}\n\nfunc (s *Store) Load() error {\n"
        "\treturn nil\n}\n",
        "Go code, 9 lines: defines Store, 1 function",
        ("L3 type Store struct", "L7 func (s *Store) Load() error"),
    ),
    (
        "use std::fs;\n\npub struct Store;\n\nimpl Store {\n    pub fn load(&self) {}\n}\n",
        "Rust code, 7 lines: defines Store, 2 functions",
        ("L3 pub struct Store;", "L5 impl Store", "L6   pub fn load(&self) {}"),
    ),
    (
        "package a.b;\n\nimport java.util.List;\n\npublic class Store {\n"
        "    private int n;\n    public void load(String id) {\n    }\n}\n",
        "Java/Kotlin/C# code, 9 lines: defines Store, 1 function",
        ("L5 public class Store", "L7   public void load(String id)"),
    ),
    (
        "#include <stdio.h>\n#define N 3\n\nstruct store { int n; };\n\n"
        "int main(int argc, char **argv)\n{\n    return 0;\n}\n",
        "C/C++ code, 9 lines: defines store, 1 function, 1 constant",
        ("L2 #define N 3", "L4 struct store { int n; };", "L6 int main(int argc, char **argv)"),
    ),
    (
        "require 'json'\n\nclass Store\n  def load(id)\n    id\n  end\nend\n",
        "Ruby code, 7 lines: defines Store, 1 function",
        ("L3 class Store", "L4   def load(id)"),
    ),
    (
        "<?php\nnamespace App;\n\nclass Store {\n    public function load($id) {\n"
        "        $x = 1;\n    }\n}\n",
        "PHP code, 8 lines: defines Store, 1 function",
        ("L4 class Store", "L5   public function load($id)"),
    ),
    (
        "#!/bin/bash\nset -e\n\nload() {\n  local id=$1\n  echo \"$id\"\n}\n",
        "shell code, 7 lines: 1 function",
        ("L4 load()",),
    ),
    (
        "create table store (\n  id int\n);\n\nselect *\nfrom store\nwhere id = 1;\n",
        "SQL, 7 lines: 1 statement",
        ("L1 create table store (",),
    ),
    (
        "name: ci\non:\n  push:\njobs:\n  test:\n    steps:\n      - run: make\n",
        "YAML, 7 lines: 5 keys",
        ("L1 name: ci", "L2 on:", "L3   push:", "L4 jobs:", "L5   test:"),
    ),
)  # fmt: skip


@pytest.mark.parametrize(("text", "summary", "lines"), FILES, ids=[one[1][:12] for one in FILES])
def test_a_language_shows_what_it_defines(text: str, summary: str, lines: tuple[str, ...]) -> None:
    assert outline(text) == Outline("code", summary, lines)


@pytest.mark.parametrize("prefix", ["{:6}→", "{:6}\t", "{:05}| ", "{}: "])
def test_line_numbers_survive_every_read_tool(prefix: str) -> None:
    rows = ("import os", "", "def load():", "    return os.sep")
    text = "".join(f"{prefix.format(at)}{row}\n" for at, row in enumerate(rows, start=98))

    assert outline(text) == Outline(
        "code", "Python code, 4 lines (98–101): 1 function", ("L100 def load():",)
    )
