from holdfast.core.shrink.outline.outline import Outline, outline


def test_rows_that_differ_are_shown() -> None:
    text = """\
name,age,city
Ann,30,Rome
Bob,41,Rome
Cid,,Rome
Dan,28,Oslo,extra
P0,0,Rome
P1,1,Rome
P2,2,Rome
P3,3,Rome
P4,4,Rome
P5,5,Rome
P6,6,Rome
P7,7,Rome
P8,8,Rome
P9,9,Rome
P10,10,Rome
P11,11,Rome
P12,12,Rome
P13,13,Rome
P14,14,Rome
P15,15,Rome
P16,16,Rome
P17,17,Rome
P18,18,Rome
P19,19,Rome
"""
    assert outline(text, lines=8) == Outline(
        "table",
        "table: 24 rows, 3 columns (name, age, city)",
        (
            "city: Rome ×23, Oslo ×1",
            "L2: Ann | 30 | Rome",
            "L3: Bob | 41 | Rome",
            "L4 (odd): Cid |  | Rome",
            "L5 (odd): Dan | 28 | Oslo | extra",
            "L6: P0 | 0 | Rome",
            "L7: P1 | 1 | Rome",
            "L25: P19 | 19 | Rome",
        ),
    )


def test_columns_set_by_spaces_are_read() -> None:
    text = """\
NAME        STATUS    AGE
web-1       Running   3d
web-2       Running   3d
db-0        Failed    1d
"""
    assert outline(text) == Outline(
        "table",
        "table: 3 rows, 3 columns (NAME, STATUS, AGE)",
        ("L2: web-1 | Running | 3d", "L3: web-2 | Running | 3d", "L4: db-0 | Failed | 1d"),
    )


def test_pipes_are_read() -> None:
    text = """\
| name | age |
|------|-----|
| Ann | 30 |
| Bob | 41 |
"""
    assert outline(text) == Outline(
        "table",
        "table: 2 rows, 2 columns (name, age)",
        ("L3: Ann | 30", "L4: Bob | 41"),
    )


def test_a_comma_in_quotes_parts_nothing() -> None:
    text = """\
a,b,c
"x, y",2,3
1,2,3
"""
    assert outline(text) == Outline(
        "table",
        "table: 2 rows, 3 columns (a, b, c)",
        ("L2: x, y | 2 | 3", "L3: 1 | 2 | 3"),
    )
