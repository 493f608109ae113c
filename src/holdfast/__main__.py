"""`python -m holdfast`."""

from holdfast.surfaces.cli.main import main

if __name__ == "__main__":
    main()
