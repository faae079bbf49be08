"""Herzblatt: one soloist against the rest, hearts are trumps, for two to five players."""
