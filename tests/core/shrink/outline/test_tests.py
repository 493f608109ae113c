from holdfast.core.shrink.outline.outline import Outline, outline


def test_pytest_failures_have_reason_and_place() -> None:
    text = """\
============================= test session starts ==============================
collected 3 items

tests/test_a.py ..F                                                      [100%]

=================================== FAILURES ===================================
_________________________________ test_adds ____________________________________

    def test_adds():
>       assert add(1, 2) == 4
E       assert 3 == 4
E        +  where 3 = add(1, 2)

tests/test_a.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_adds - assert 3 == 4
========================= 1 failed, 2 passed in 0.12s ==========================
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 1 failed, 2 passed in 0.12s",
        ("FAIL tests/test_a.py::test_adds (tests/test_a.py:12) — assert 3 == 4",),
    )


def test_the_output_of_passed_pytest_tests_is_no_failure() -> None:
    text = """\
=================================== FAILURES ===================================
__________________________________ test_bad ____________________________________
E       ValueError: no
tests/test_a.py:3: ValueError
==================================== PASSES ====================================
__________________________________ test_good ___________________________________
----------------------------- Captured stdout call -----------------------------
an error, as expected
=========================== short test summary info ============================
FAILED tests/test_a.py::test_bad - ValueError: no
========================= 1 failed, 1 passed in 0.12s ==========================
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 1 failed, 1 passed in 0.12s",
        ("FAIL tests/test_a.py::test_bad (tests/test_a.py:3) — ValueError: no",),
    )


def test_unittest_failures_have_reason_and_place() -> None:
    text = """\
..F
======================================================================
FAIL: test_adds (tests.test_a.Adding)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/app/tests/test_a.py", line 9, in test_adds
    self.assertEqual(add(1, 2), 4)
AssertionError: 3 != 4

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1)
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 1 failed, 2 passed in 0.001s",
        ("FAIL test_adds (tests.test_a.Adding) (/app/tests/test_a.py:9) — AssertionError: 3 != 4",),
    )


def test_jest_failures_have_reason_and_place() -> None:
    text = """\
FAIL src/sum.test.js
  ✓ adds zero (1 ms)
  ✕ adds two (3 ms)

  ● sum › adds two

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

      at Object.<anonymous> (src/sum.test.js:8:21)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total
Time:        0.512 s
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 1 failed, 1 passed in 0.512 s",
        (
            "FAIL file src/sum.test.js",
            "FAIL sum › adds two (src/sum.test.js:8) — Expected: 4, Received: 3",
        ),
    )


def test_vitest_failures_have_reason_and_place() -> None:
    text = """\
 FAIL  src/sum.test.ts > sum > adds two
Error: got 3, not 4
 ❯ src/sum.test.ts:8:21

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed (2)
   Duration  312ms
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 1 failed, 1 passed in 312ms",
        ("FAIL src/sum.test.ts > sum > adds two (src/sum.test.ts:8) — Error: got 3, not 4",),
    )


def test_go_tells_the_reason_before_the_failure_when_verbose() -> None:
    text = """\
=== RUN   TestAdd
    add_test.go:8: got 3, want 4
--- FAIL: TestAdd (0.00s)
=== RUN   TestZero
--- PASS: TestZero (0.00s)
FAIL
FAIL\texample.com/add\t0.003s
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 1 failed, 1 passed, 1 package, 1 of them failed",
        ("FAIL TestAdd (add_test.go:8) — got 3, want 4", "FAIL package example.com/add"),
    )


def test_of_go_subtests_the_innermost_is_shown() -> None:
    text = """\
--- FAIL: TestAdd (0.00s)
    --- FAIL: TestAdd/two (0.00s)
        add_test.go:8: got 3, want 4
ok  \texample.com/sub\t0.1s
FAIL
FAIL\texample.com/add\t0.003s
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 2 failed, 2 packages, 1 of them failed",
        ("FAIL TestAdd/two (add_test.go:8) — got 3, want 4", "FAIL package example.com/add"),
    )


def test_cargo_failures_have_reason_and_place() -> None:
    text = """\
running 2 tests
test tests::adds ... FAILED
test tests::zero ... ok

failures:

---- tests::adds stdout ----
thread 'tests::adds' panicked at src/lib.rs:12:9:
assertion `left == right` failed
  left: 3
 right: 4

failures:
    tests::adds

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 1 failed, 1 passed in 0.00s",
        ("FAIL tests::adds (src/lib.rs:12) — assertion `left == right` failed",),
    )


def test_mocha_failures_have_reason_and_place() -> None:
    text = """\
  sum
    ✓ adds zero
    1) adds two

  1 passing (8ms)
  1 failing

  1) sum
       adds two:
     AssertionError: expected 3 to equal 4
      at Context.<anonymous> (test/sum.js:8:14)
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 1 failed, 1 passed in 8ms",
        ("FAIL sum adds two (test/sum.js:8) — AssertionError: expected 3 to equal 4",),
    )


def test_a_run_that_failed_without_a_failure_shows_what_may_be_why() -> None:
    text = """\
PASS src/a.test.ts
Tests:       12 passed, 12 total
Jest: "global" coverage threshold for lines (85%) not met: 82.94%
"""
    assert outline(text) == Outline(
        "tests",
        "test run: 12 passed",
        ('L3: Jest: "global" coverage threshold for lines (85%) not met: 82.94%',),
    )
