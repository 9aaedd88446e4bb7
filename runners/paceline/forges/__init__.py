"""Shows a run's verdict where a commit is reviewed: a commit status, and one comment in its pull request.

Read `port.py` (what every forge can do), then `github.py`, `gitlab.py` and `forgejo.py` (one forge each), `client.py`
(requests, limits, retries) and `reporting.py` (what is said when). No failure of a forge changes a verdict.
"""
