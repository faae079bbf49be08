"""Do two runs of the audit agree?  ``python experiments/compare_advice.py RUN RUN``

Takes two finished run folders of kind ``advice`` that differ in nothing but their seeds, and prints
for each maxim both verdicts, both effects a deal, and by how many standard errors these differ.
"""

import sys
from pathlib import Path

from elfern_rl.arena.tables import markdown_table
from elfern_rl.experiment.files import read_json


def main():
    """Prints the table."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    runs = [read_json(Path(path) / "results.json") for path in sys.argv[1:]]
    rows = [["maxim", *(f"verdict, seed {run['seed']}" for run in runs), "", "", "apart, SE"]]
    rows[0][3:5] = [f"game points a deal, seed {run['seed']}" for run in runs]
    same = 0
    for pair in zip(*(run["maxims"] for run in runs), strict=True):
        names = [maxim["verdict"]["name"] for maxim in pair]
        effects = [next(iter(maxim["choice"]))["a_deal"] for maxim in pair]
        errors = [effect["standard_error"] for effect in effects]
        apart = abs(effects[0]["mean"] - effects[1]["mean"])
        spread = sum(error**2 for error in errors) ** 0.5
        same += names[0] == names[1]
        figures = [f"{e['mean']:+.3f} [{e['low']:+.3f}, {e['high']:+.3f}]" for e in effects]
        marked = [names[0], names[1] if names[0] == names[1] else f"**{names[1]}**"]
        rows.append([pair[0]["id"], *marked, *figures, f"{apart / spread:.1f}" if spread else "–"])
    print(markdown_table(rows, "lllrrr"))
    print(f"\n{same} of {len(rows) - 1} verdicts are the same.")


if __name__ == "__main__":
    main()
