"""``selfright``: the command line. Results on stdout; everything else, errors in one line, on stderr.

Exit codes: 0 fine; 1 the task failed, or what it was given (a file, a question) cannot be used; 2 a wrong command,
option or setting; 130 stopped by Ctrl-C.
"""

import atexit
import gc
import io
import logging
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

import click

from selfright.cli.commands.ask import ask, search
from selfright.cli.commands.calibrate import calibrate
from selfright.cli.commands.chat import chat
from selfright.cli.commands.config import config, graph, models
from selfright.cli.commands.demo import demo
from selfright.cli.commands.eval import ablate, evaluate
from selfright.cli.commands.index import index
from selfright.cli.commands.keys import keys
from selfright.cli.commands.profile import profile
from selfright.cli.commands.serve import mcp, serve
from selfright.cli.commands.trace import trace
from selfright.cli.commands.ui import ui
from selfright.cli.progress import TerminalText
from selfright.domain.errors import SelfrightError

_COLLECT_AFTER = 50_000  # new objects; Python's own default is 700


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="selfright", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show tracebacks and the log.")
def cli(debug: bool) -> None:
    """Answers questions from your documents, checks and corrects itself, and reports what it cannot support.

    Works without any language model, key or network. Korean and English.
    """
    logging.basicConfig(level=logging.DEBUG if debug else logging.ERROR, format="%(name)s: %(message)s")


_COMMANDS = (
    demo, index, search, ask, chat, calibrate, evaluate, ablate, graph, config, profile, trace, serve, keys, mcp,
    models, ui,
)  # fmt: skip
for command in _COMMANDS:
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and gives back its exit code; one line on stderr for anything that goes wrong."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # Our own messages say "run again with --debug", and people add it where they are: at the end.
    debug = given[-1:] == ["--debug"] or given[:1] == ["--debug"]
    if given[-1:] == ["--debug"]:
        given = ["--debug", *given[:-1]]
    try:
        code = cli.main(given, prog_name="selfright", standalone_mode=False)
    except Exception as error:
        if debug and not isinstance(error, click.ClickException):
            raise
        return _report_error(error)
    except KeyboardInterrupt:
        return _say("interrupted; what was committed before is kept", 130)
    return code if isinstance(code, int) else 0


def _report_error(error: Exception) -> int:
    if isinstance(error, BrokenPipeError):
        # The reader of our output has gone (`selfright … | head`): nothing is wrong, and nothing can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.ctx.get_help(), err=True)
        return 2
    return _say(*_error_message(error))


def _error_message(error: Exception) -> tuple[str, int]:
    match error:
        case click.ClickException():
            context = error.ctx if isinstance(error, click.UsageError) else None
            where = f"; see '{context.command_path} --help'" if context else ""
            said = error.format_message().rstrip(".")
            # Click calls a number within bounds a range.
            said = said.replace("a valid integer range", "a whole number").replace("a valid float range", "a number")
            if said.startswith("Got unexpected extra") and context and _takes_text(context.command):
                said += ": put several words in quotes"
            return f"{said}{where}", 2
        case click.Abort():
            return "interrupted; what was committed before is kept", 130
        case SelfrightError():
            return str(error), error.exit_code
        case OSError() if error.filename is not None:
            return f"{error.filename}: {error.strerror}; check that the path exists and may be used", 1
        case _:
            return f"{type(error).__name__}: {error} (run again with --debug for the whole story)", 1


def _takes_text(command: click.Command) -> bool:
    return any(one.name in ("question", "query") for one in command.params)


def _say(message: str, code: int) -> int:
    line = " ".join(message.split())
    click.echo(f"selfright: {line}", err=True)
    return code


def run() -> None:
    """The installed script. Output is UTF-8 whatever the locale says: answers may be Korean anywhere."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
            if stream.isatty():
                terminal = TerminalText(stream.buffer, encoding="utf-8", errors="replace", line_buffering=True)
                setattr(sys, name, terminal)
    # What imports make stays, and looking through it hundreds of times for garbage took a sixth of a cold question.
    gc.set_threshold(_COLLECT_AFTER)
    code = main()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()  # Python waits for these anyway
    # Python tears down what foreign code (networks, a tokenizer) may still be loading or using, and dies of it.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # whoever read it is gone
            stream.flush()
    os._exit(code)
