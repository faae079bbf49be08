"""Search over information states: views in, policies out; the hidden cards are sampled."""
