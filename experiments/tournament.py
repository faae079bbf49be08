"""How do agents compare on the same deals?

``python experiments/tournament.py [CONFIG] [key=value ...]``
"""

import sys

from elfern_rl.cli import script

if __name__ == "__main__":
    sys.exit(script("configs/tournament/default.yaml"))
