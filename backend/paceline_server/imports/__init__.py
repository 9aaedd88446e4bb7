"""Documents that other tools printed: averages with their devices, arms and the policy in force."""
