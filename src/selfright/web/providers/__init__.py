"""Where pages come from, behind the port ``WebSearch``: services on the web, and a folder (``static.py``)."""
