"""Why an alert was raised: every filter with its number and limit, in words, made again from samples."""
