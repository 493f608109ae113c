"""Whatever answers an `Ask`. Nothing here is used unless someone names a model."""
