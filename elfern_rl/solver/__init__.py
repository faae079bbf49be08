"""Exact answers: the complete endgame table and the double-dummy solver.

``endgame(state)`` and ``double_dummy(state, talon)`` are the faces for people; their modules of the
same names hold what search and experiments call.
"""

from elfern_rl.solver.double_dummy import DoubleDummyAnswer, double_dummy
from elfern_rl.solver.endgame import EndgameAnswer, endgame

__all__ = ["DoubleDummyAnswer", "EndgameAnswer", "double_dummy", "endgame"]
