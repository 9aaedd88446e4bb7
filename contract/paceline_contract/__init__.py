"""What agent and server agree on. It imports neither of them."""
