/** Converts a grant to the fields of its form and back: ticked projects, and one pattern per line. */
import type { Grant } from '../../api/types';

export interface GrantDraft {
  projects: string[];
  repositories: string;
  targets: string;
}

export const NEW_GRANT: Omit<GrantDraft, 'projects'> = {
  repositories: '',
  targets: 'host:*\ndevice:*',
};

export function draftOf(grant: Grant): GrantDraft {
  return {
    projects: grant.projects,
    repositories: grant.repositories.join('\n'),
    targets: grant.targets.join('\n'),
  };
}

const patterns = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export function grantOf(draft: GrantDraft): Grant {
  return {
    projects: draft.projects,
    repositories: patterns(draft.repositories),
    targets: patterns(draft.targets),
  };
}

/** Without a repository an agent announces no suite, so the form asks for one. */
export function isComplete(draft: GrantDraft): boolean {
  const grant = grantOf(draft);
  return (
    grant.projects.length > 0 &&
    grant.repositories.length > 0 &&
    grant.targets.length > 0
  );
}
