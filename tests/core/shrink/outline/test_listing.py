from holdfast.core.shrink.outline.outline import Outline, outline


def test_a_long_listing_has_sizes() -> None:
    text = """\
total 8
drwxr-xr-x  2 me me 4096 Jan  1 10:00 .
drwxr-xr-x  2 me me 4096 Jan  1 10:00 src
-rw-r--r--  1 me me  120 Jan  1 10:00 a.py
-rw-r--r--  1 me me   90 Jan  1 10:00 b.md
"""
    assert outline(text) == Outline(
        "listing",
        "listing: 3 paths, 1 path is a directory (.md 1, .py 1)",
        ("./ (3): src/, a.py 120, b.md 90",),
    )


def test_paths_are_set_by_directory() -> None:
    text = """\
./src/a.py
./src/b.py
./docs/c.md
"""
    assert outline(text) == Outline(
        "listing",
        "listing: 3 paths in 2 directories under ./ (.py 2, .md 1)",
        ("src/ (2): a.py, b.py", "docs/ (1): c.md"),
    )


def test_a_tree_keeps_its_directories() -> None:
    text = """\
.
├── src
│   ├── a.py
│   └── lib
│       └── b.py
└── README.md

2 directories, 3 files
"""
    assert outline(text) == Outline(
        "listing",
        "listing: 5 paths in 3 directories, 2 paths are directories (.py 2, .md 1)",
        ("./ (2): src/, README.md", "src/ (2): a.py, lib/", "src/lib/ (1): b.py"),
    )


def test_directories_that_hold_the_same_are_told_once() -> None:
    text = """\
run/1/log.txt
run/1/out.json
run/2/log.txt
run/2/out.json
run/3/log.txt
"""
    assert outline(text) == Outline(
        "listing",
        "listing: 5 paths in 3 directories under run/ (.txt 3, .json 2)",
        ("1/ and 1 more like it (2): log.txt, out.json", "3/ (1): log.txt"),
    )
