from holdfast.core.shrink.outline.outline import Outline, outline


def test_chained_python_exceptions_keep_their_frames() -> None:
    text = """\
Traceback (most recent call last):
  File "/app/main.py", line 10, in main
    load(path)
  File "/app/load.py", line 4, in load
    return open(path)
FileNotFoundError: [Errno 2] No such file or directory: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/main.py", line 12, in main
    fail(error)
RuntimeError: could not load x
"""
    assert outline(text) == Outline(
        "trace",
        "stack trace: RuntimeError: could not load x (3 frames, 2 exceptions)",
        (
            "  /app/main.py:10 in main: load(path)",
            "  /app/load.py:4 in load: return open(path)",
            "FileNotFoundError: [Errno 2] No such file or directory: 'x'",
            "During handling of the above exception, another exception occurred:",
            "  /app/main.py:12 in main: fail(error)",
            "RuntimeError: could not load x",
        ),
    )


def test_javascript_frames_name_file_and_function() -> None:
    text = """\
TypeError: Cannot read properties of undefined (reading 'id')
    at find (/app/src/find.js:12:9)
    at Module._compile (node:internal/modules/cjs/loader:1256:14)
"""
    assert outline(text) == Outline(
        "trace",
        "stack trace: TypeError: Cannot read properties of undefined (reading 'id') (2 frames)",
        (
            "TypeError: Cannot read properties of undefined (reading 'id')",
            "  /app/src/find.js:12:9 in find",
            "  node:internal/modules/cjs/loader:1256:14 in Module._compile",
        ),
    )


def test_java_causes_are_shown() -> None:
    text = """\
Exception in thread "main" java.lang.Exception: no
\tat com.example.App.run(App.java:12)
\tat com.example.App.main(App.java:5)
Caused by: java.io.IOException: closed
\tat com.example.Io.read(Io.java:3)
"""
    assert outline(text) == Outline(
        "trace",
        'stack trace: Exception in thread "main" java.lang.Exception: no (3 frames, 2 exceptions)',
        (
            'Exception in thread "main" java.lang.Exception: no',
            "  App.java:12 in com.example.App.run",
            "  App.java:5 in com.example.App.main",
            "Caused by: java.io.IOException: closed",
            "  Io.java:3 in com.example.Io.read",
        ),
    )


def test_a_go_panic_shows_its_frames() -> None:
    text = """\
panic: runtime error: index out of range [3]

goroutine 1 [running]:
main.pick(...)
\t/app/main.go:9 +0x1d
main.main()
\t/app/main.go:5 +0x1d
exit status 2
"""
    assert outline(text) == Outline(
        "trace",
        "stack trace: panic: runtime error: index out of range [3] (2 frames) (exit code 2)",
        (
            "panic: runtime error: index out of range [3]",
            "  /app/main.go:9 in main.pick",
            "  /app/main.go:5 in main.main",
        ),
    )


def test_of_many_frames_the_innermost_are_kept() -> None:
    text = """\
Traceback (most recent call last):
  File "/app/f1.py", line 1, in f1
    f2()
  File "/app/f2.py", line 2, in f2
    f3()
  File "/app/f3.py", line 3, in f3
    f4()
  File "/app/f4.py", line 4, in f4
    f5()
  File "/app/f5.py", line 5, in f5
    f6()
  File "/app/f6.py", line 6, in f6
    f7()
  File "/app/f7.py", line 7, in f7
    f8()
  File "/app/f8.py", line 8, in f8
    f9()
ValueError: deep
"""
    assert outline(text, lines=4) == Outline(
        "trace",
        "stack trace: ValueError: deep (8 frames)",
        (
            "  /app/f6.py:6 in f6: f7()",
            "  /app/f7.py:7 in f7: f8()",
            "  /app/f8.py:8 in f8: f9()",
            "ValueError: deep",
        ),
    )
