"""What criterion measured: a run per baseline, with every sample, that is never judged."""
