"""Elfern: the old trick-and-draw game for two players."""
