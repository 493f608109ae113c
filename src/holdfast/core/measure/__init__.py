"""How big is it: tokens, the model's window, and how full that is."""
