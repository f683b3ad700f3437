"""``python -m selfright``: the command line."""

from selfright.cli.main import run

if __name__ == "__main__":
    run()
