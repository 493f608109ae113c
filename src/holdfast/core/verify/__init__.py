"""Stage 6: check what a compression loses: losses, probes, quality scores, drift."""
