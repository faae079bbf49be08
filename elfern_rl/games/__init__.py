"""The games: compiled rules and their faces."""
