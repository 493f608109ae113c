from holdfast.core.shrink.outline.outline import Outline, outline


def test_definitions_keep_the_numbers_of_the_read_tool() -> None:
    text = """\
   10→import os
   11→
   12→MAX_SIZE = 3
   13→
   14→class Session:
   15→    def load(self, path):
   16→        return open(path)
   17→
   18→async def main():
   19→    pass
"""
    assert outline(text) == Outline(
        "code",
        "Python code, 10 lines (10–19): defines Session, 2 functions, 1 constant",
        (
            "L12 MAX_SIZE = 3",
            "L14 class Session:",
            "L15   def load(self, path):",
            "L18 async def main():",
        ),
    )


def test_more_definitions_than_lines_are_packed() -> None:
    text = "import os\n\n" + "".join(f"def step_{at}():\n    return {at}\n\n\n" for at in range(9))
    assert outline(text, lines=2, width=70) == Outline(
        "code",
        "Python code, 38 lines: 9 functions",
        (
            "L3 step_0, L7 step_1, L11 step_2, L15 step_3, L19 step_4, L23 step_5",
            "L27 step_6, L31 step_7, L35 step_8",
        ),
    )
