"""The page as a process: ``python -m selfright.ui PORT``; ends with the process that holds its standard input.

The address of the service and the folder of reports come in the environment (see ``state``). Streamlit listens on
this machine only, answers to no other host's name, sends no usage figures, and tells browsers nothing of errors.
"""

import os
import signal
import sys
import threading
from pathlib import Path

_MOST_UPLOAD_MB = 100
_OPTIONS = {
    "server.address": "127.0.0.1",
    "server.headless": "true",
    "server.allowedHosts": "127.0.0.1",
    "server.enableCORS": "true",
    "server.enableXsrfProtection": "true",
    "server.fileWatcherType": "none",
    "server.maxUploadSize": str(_MOST_UPLOAD_MB),
    "server.showEmailPrompt": "false",
    "browser.gatherUsageStats": "false",
    "browser.serverAddress": "127.0.0.1",
    "client.showErrorDetails": "none",
    "client.showErrorLinks": "false",
    "client.toolbarMode": "minimal",
    "logger.level": "error",
    "runner.magicEnabled": "false",
    "theme.light.primaryColor": "#1f66c1",
    "theme.dark.primaryColor": "#2773d3",
}


def main(port: str) -> None:
    """Runs the page until a signal comes or standard input ends."""
    from streamlit.web import cli

    threading.Thread(target=_end_with_parent, daemon=True).start()
    options = [f"--{name}={value}" for name, value in {**_OPTIONS, "server.port": port}.items()]
    cli.main(["run", *options, str(Path(__file__).with_name("page.py"))], standalone_mode=False)


def _end_with_parent() -> None:
    """A parent that was killed cannot end us, but its end of the pipe closes."""
    while os.read(0, 1):  # not through sys.stdin: whoever reads there when Python ends brings it down
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main(sys.argv[1])
