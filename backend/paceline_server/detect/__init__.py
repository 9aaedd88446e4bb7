"""From stored samples to findings and verdicts; offline from files too (`judge`)."""
