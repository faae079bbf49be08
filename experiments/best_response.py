"""How much does a responder gain against a frozen agent?

``python experiments/best_response.py [CONFIG] [key=value ...]``
"""

import sys

from elfern_rl.cli import script

if __name__ == "__main__":
    sys.exit(script("configs/best_response/default.yaml"))
