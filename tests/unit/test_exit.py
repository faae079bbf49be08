"""A process that has imported the package ends as it should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_pytest_exits_cleanly_with_the_games_registered(tmp_path: Path) -> None:
    """OpenSpiel's registry outlives the interpreter; freeing our creator then aborted pytest."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(
        "import elfern_rl\n\ndef test_it():\n    assert elfern_rl.__version__\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
