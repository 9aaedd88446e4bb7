"""What a person triages: candidates, confirmation, life cycle, history."""
