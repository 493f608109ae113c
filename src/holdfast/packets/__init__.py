"""Packets for workers: make, deliver, read, revise, and learn from feedback."""
