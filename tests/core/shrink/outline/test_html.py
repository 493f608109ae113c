from holdfast.core.shrink.outline.outline import Outline, outline


def test_a_page_is_shown_without_its_markup() -> None:
    text = """\
<!doctype html><html><head><title>Log in</title><style>p{}</style></head>
<body><h1>Welcome <b>back</b></h1><form><input name=a></form><p>Please sign in.</p>
<a href=/x>Help</a><script>var x = "<p>no</p>";</script></body></html>
"""
    assert outline(text) == Outline(
        "html",
        "HTML page “Log in”, 229 characters: 1 link, 1 form, 1 input, 1 script",
        ("# Welcome back", "Welcome back Please sign in. Help"),
    )


def test_xml_is_told_by_its_elements() -> None:
    text = """\
<?xml version="1.0"?>
<items>
  <item>one</item>
  <item>two</item>
</items>
"""
    assert outline(text) == Outline(
        "html",
        "XML, 5 lines: item ×2, items ×1",
        ("one two",),
    )
