"""The project's folder: paths, settings, readable copies, files of other tools."""
