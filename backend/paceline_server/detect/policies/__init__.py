"""Usage policy advice: from where an arm pays on a target, beside the policy in force."""
