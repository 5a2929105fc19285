"""``python -m jupyter_wfresume.cli``, where Jupyter's own command is not on the path."""

from __future__ import annotations

import sys

from .commands import main

sys.exit(main())
