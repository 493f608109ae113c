"""Interfaces to users and agents (CLI, hooks, MCP, installers): parse, call, print."""
