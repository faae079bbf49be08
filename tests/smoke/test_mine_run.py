"""Kind ``mine`` from end to end: what it finds is what kind ``advice`` takes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from elfern_rl import cli
from elfern_rl.advice import maxims_of

TINY = Path(__file__).parents[2] / "configs" / "mine" / "tiny.yaml"


@pytest.mark.slow
def test_rules_are_found_and_can_be_judged(tmp_path, capsys):
    assert cli.main(["run", str(TINY), f"out={tmp_path / 'run'}"]) == 0
    assert "mined-1" in capsys.readouterr().out
    rules = yaml.safe_load((tmp_path / "run" / "rules.yaml").read_text())["rules"]
    assert [rule["id"] for rule in rules] == ["mined-1"]
    assert "mined-1" in maxims_of("elfern", [], rules)
    # Damaged positions are one line.
    file = next((tmp_path / "run" / "positions").iterdir())
    file.write_bytes(file.read_bytes()[:-100])
    marker = tmp_path / "run" / "run.json"
    marker.write_text(marker.read_text().replace('"finished"', '"interrupted"'))
    assert cli.main(["run", str(TINY), f"out={tmp_path / 'run'}"]) == 2
    error = capsys.readouterr().err
    assert "positions: damaged" in error
    assert "Traceback" not in error
    # So is a network that is not the one with which the run began.
    agents = tmp_path / "run" / "agents.json"
    agents.write_text(agents.read_text().replace('"sha256": "', '"sha256": "0'))
    marker.write_text(marker.read_text().replace('"failed"', '"interrupted"'))
    assert cli.main(["run", str(TINY), f"out={tmp_path / 'run'}"]) == 2
    error = capsys.readouterr().err
    assert "agent 'best' has changed since the run began" in error
    assert error.count("\n") == 1
