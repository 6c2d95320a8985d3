"""`import quorum`: the package quorum_gp under its short name.

Another distribution of the Python index installs a package that is called quorum.  Where both are installed,
Python takes that folder before this file: nothing is overwritten, and `import quorum_gp` is this one.
"""
import sys

import quorum_gp

for _name, _module in list(sys.modules.items()):
    if _name == "quorum_gp" or _name.startswith("quorum_gp."):
        sys.modules["quorum" + _name[len("quorum_gp"):]] = _module
