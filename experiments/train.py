"""How strong does self-play become?

``python experiments/train.py [CONFIG] [key=value ...]``
"""

import sys

from elfern_rl.cli import script

if __name__ == "__main__":
    sys.exit(script("configs/train/default.yaml"))
