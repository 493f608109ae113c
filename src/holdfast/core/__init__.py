"""The pure core: values in, values out. No file, socket, clock, random number or environment."""
