"""Ways in. Thin: parse, call the product, print."""
