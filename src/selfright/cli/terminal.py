"""What a terminal is sent, whatever documents, names and errors hold."""

import io
import re

# All control characters but tabs and line ends, bold, dim and coloured letters. Elsewhere a carriage return lets the
# rest of a line take the place of its beginning.
_CONTROL = re.compile(r"(?!\r\n|\x1b\[(?:[0-2]|3[1-7])m)[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class TerminalText(io.TextIOWrapper):
    """Text without the control characters by which a document could move the cursor, hide what stands there, rename
    the window or fill the clipboard."""

    def write(self, text: str, /) -> int:
        """Writes the rest of ``text``."""
        super().write(_CONTROL.sub("", text))
        return len(text)
