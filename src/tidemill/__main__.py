"""`python -m tidemill`: the command line."""

from tidemill.cli import main

if __name__ == "__main__":
    main()
