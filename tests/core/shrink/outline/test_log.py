from holdfast.core.shrink.outline.outline import Outline, outline


def test_errors_come_with_what_follows_and_repeats_are_counted() -> None:
    text = """\
2026-01-02 10:00:00 INFO started
2026-01-02 10:00:01 WARN slow query took 120 ms
2026-01-02 10:00:02 WARN slow query took 340 ms
2026-01-02 10:00:03 ERROR cannot connect to 10.0.0.1
  caused by: refused
2026-01-02 10:00:04 INFO stopped
"""
    assert outline(text) == Outline(
        "log",
        "log, 6 lines: 1 error (1 distinct), 2 warnings, 2 info",
        (
            "L1: 2026-01-02 10:00:00 INFO started",
            "L2 ×2: 2026-01-02 10:00:01 WARN slow query took 120 ms",
            "L4: 2026-01-02 10:00:03 ERROR cannot connect to 10.0.0.1",
            "    caused by: refused",
            "L6: 2026-01-02 10:00:04 INFO stopped",
        ),
    )


def test_compiler_errors_are_a_log_and_the_exit_code_is_told() -> None:
    text = """\
Exit code 2
src/a.ts(3,5): error TS2304: Cannot find name 'x'.
src/b.ts(9,1): error TS2304: Cannot find name 'y'.
"""
    assert outline(text) == Outline(
        "log",
        "log, 3 lines: 2 errors (2 distinct) (exit code 2)",
        (
            "L2: src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
            "L3: src/b.ts(9,1): error TS2304: Cannot find name 'y'.",
        ),
    )


def test_stamps_of_a_build_service_are_taken_off() -> None:
    text = """\
build\tcompile\t2026-01-02T10:00:00.0000000Z ##[group]Run make
build\tcompile\t2026-01-02T10:00:01.0000000Z \x1b[31mmake: *** [all] Error 2\x1b[0m
build\tcompile\t2026-01-02T10:00:02.0000000Z ##[error]Process completed with exit code 2.
"""
    assert outline(text) == Outline(
        "log",
        "log, 3 lines: 2 errors (2 distinct)",
        (
            "L1: ##[group]Run make",
            "L2: make: *** [all] Error 2",
            "L3: ##[error]Process completed with exit code 2.",
        ),
    )
