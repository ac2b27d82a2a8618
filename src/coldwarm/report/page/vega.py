"""Vega, Vega-Lite and Vega-Embed as one script, of vl-convert.

Putting them together takes more than a second, so a process of its own does it meanwhile.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache

_DRAWS = 'window.vegaEmbed = vegaEmbed; document.dispatchEvent(new Event("vega-there"));'
"""What the script does at its end."""
_BUNDLE = "import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle(sys.argv[1]))"


@cache
def begun() -> subprocess.Popen[str]:
    """Begin to put the script together, once."""
    command = [sys.executable, "-c", _BUNDLE, _DRAWS]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own


@cache
def script() -> str:
    """Return the script, such that nothing in it ends a script element."""
    made, _ = begun().communicate()
    if begun().returncode:  # no process could be started, or not so many: then here
        import vl_convert  # noqa: PLC0415 - large

        made = vl_convert.javascript_bundle(_DRAWS)
    return made.replace("</script", "<\\/script").replace("<!--", "<\\!--")
