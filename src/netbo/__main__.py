"""`python -m netbo` is the command `netbo`."""

from netbo.cli import main

if __name__ == "__main__":  # worker processes import this file, and must not start the command again
    main(prog_name="netbo")
