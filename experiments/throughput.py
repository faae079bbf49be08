"""How many moves a second?

``python experiments/throughput.py [CONFIG] [key=value ...]``
"""

import sys

from elfern_rl.cli import script

if __name__ == "__main__":
    sys.exit(script("configs/throughput/default.yaml"))
