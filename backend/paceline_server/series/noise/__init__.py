"""What targets can resolve: noise floors from A/A jobs, and an estimate from history before there are any."""
