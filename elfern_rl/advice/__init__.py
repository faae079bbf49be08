"""Old advice put to the test: maxims as objects, four ways to judge them, and their verdicts."""

from elfern_rl.advice.catalogue import maxims_of
from elfern_rl.advice.maxim import Force, InvalidMaxim, Maxim

__all__ = ["Force", "InvalidMaxim", "Maxim", "maxims_of"]
