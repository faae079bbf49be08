"""``python -m elfern_rl``: the same as the command ``elfern``."""

import sys

from elfern_rl.cli import main

sys.exit(main())
