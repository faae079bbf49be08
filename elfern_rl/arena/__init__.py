"""The arena: agents against each other on duplicate deals, with intervals."""
