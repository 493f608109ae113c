"""Speed, memory and quality as commands that print a table: `python -m benchmarks [NAME…]`."""
