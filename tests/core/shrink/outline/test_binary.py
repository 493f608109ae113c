from holdfast.core.shrink.outline.outline import Outline, outline


def test_an_image_in_base64_is_named_and_not_shown() -> None:
    text = "iVBORw0KGgoAAAANSUhEUgAA" + "QWxhZGRpbjpvcGVuIHNlc2FtZQ0123456789+/abcXYZ" * 10
    assert outline(text) == Outline(
        "binary",
        "binary in base64: PNG image, 464 characters, about 348 bytes",
        (),
    )


def test_a_program_is_named_and_not_shown() -> None:
    text = "\x7fELF\x02\x01\x01\x00\x00\x00"
    assert outline(text) == Outline(
        "binary",
        "binary: ELF program, 10 characters",
        (),
    )
