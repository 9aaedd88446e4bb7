"""Forgejo and Gitea: their API repeats GitHub's for what is used here; their runner sets FORGEJO_*, GITHUB_* or both.

https://forgejo.org/docs/latest/user/api-usage, https://docs.gitea.com/usage/actions
"""

from __future__ import annotations

from paceline.forges import github
from paceline.forges.github import GitHubForge, actions_pipeline
from paceline.forges.port import ForgeOptions, Pipeline, Variables

NAME = "Forgejo"
TOKEN_VARIABLES = ("FORGEJO_TOKEN", "GITEA_TOKEN", "GITHUB_TOKEN")
PERMISSION_ADVICE = (
    "Set FORGEJO_TOKEN in the step's env to a token with the scopes write:repository and write:issue; the "
    "workflow's own token does where its owner may write. For comments that start a run it must be a token of an "
    "administrator of the repository: nobody else is told who may write."
)
FORK_ADVICE = github.FORK_ADVICE
PREFIXES = ("FORGEJO", "GITHUB")


def find_pipeline(variables: Variables, options: ForgeOptions) -> Pipeline:
    """Return the pipeline that the runner's variables describe. Raises UserError for what is missing."""
    server = variables.get("FORGEJO_SERVER_URL", "GITHUB_SERVER_URL")
    stated_url = variables.get("FORGEJO_API_URL", "GITHUB_API_URL")
    api_url = variables.need(
        options.api_url
        or stated_url
        or (f"{server.rstrip('/')}/api/v1" if server else None),
        "where the API is",
        "--forge-url",
        "FORGEJO_API_URL",
    )
    token = options.token or variables.get(*TOKEN_VARIABLES)
    return actions_pipeline(variables, options, api_url, token, PREFIXES)


class ForgejoForge(GitHubForge):
    """A commit and a pull request by the API of Forgejo or Gitea."""

    @staticmethod
    def headers(token: str) -> dict[str, str]:
        """Return the headers of every request."""
        return {"Authorization": f"token {token}", "Accept": "application/json"}
