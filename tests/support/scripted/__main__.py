"""``python -m tests.support.scripted``: the server on its own, to try Selfright without a key or a model."""

import argparse
import sys
import time
from collections.abc import Sequence

from selfright.domain.errors import SelfrightError
from tests.support.scripted.catalogue import fault_named
from tests.support.scripted.fake_model import FakeModel
from tests.support.scripted.rules import Rule, share_of_calls
from tests.support.scripted.server import ScriptedServer


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until interrupted. Gives 0, or 2 for options that cannot be used, or 1 when it cannot listen."""
    options = _options().parse_args(arguments)
    try:
        server = _server(options).start()
    except SelfrightError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"cannot listen on port {options.port}: {error}; choose another --port\n")
        return 1
    try:
        sys.stdout.write(_greeting(server))
        sys.stdout.flush()
        while True:
            time.sleep(3_600)
    except KeyboardInterrupt:
        return 0
    finally:
        server.close()


def _server(options: argparse.Namespace) -> ScriptedServer:
    return ScriptedServer(
        [Rule(share_of_calls(options.share, options.seed), fault_named(options.fault))] if options.fault else (),
        latency_s=options.latency,
        pace_s=options.pace,
        model=FakeModel(gullible=options.gullible),
        keep=0,
        port=options.port,
    )


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.scripted",
        description="A stand-in for a language model behind OpenAI's HTTP interface. It answers by counting shared "
        "words. Stop it with Ctrl-C.",
    )
    parser.add_argument("--port", type=int, default=8089, help="where to listen; 0 takes a free port (default 8089)")
    parser.add_argument(
        "--latency", type=float, default=0.3, metavar="S", help="seconds before an answer (default 0.3)"
    )
    parser.add_argument("--pace", type=float, default=0.02, metavar="S", help="seconds between streamed pieces")
    parser.add_argument("--fault", metavar="NAME", help="a fault to play, such as 429, stall or reset-midway")
    parser.add_argument("--share", type=float, default=1.0, help="the share of calls that get the fault (default 1.0)")
    parser.add_argument("--seed", type=int, default=0, help="which calls those are")
    parser.add_argument("--gullible", action="store_true", help="obey orders planted in documents")
    return parser


def _greeting(server: ScriptedServer) -> str:
    return (
        f"A scripted model listens on {server.url}. To use it:\n\n"
        f"export SELFRIGHT_LLM=openai:scripted\nexport SELFRIGHT_BASE_URL={server.url}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
