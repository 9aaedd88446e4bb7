/** The roles of a project, from fewest to most permissions, and what each may do. */
export const ROLES = ['viewer', 'triager', 'maintainer', 'admin'] as const;

export type RoleName = (typeof ROLES)[number];

export const ROLE_OPTIONS: readonly { value: RoleName; label: string }[] = [
  { value: 'viewer', label: 'viewer: reads' },
  { value: 'triager', label: 'triager: decides about alerts, writes rules' },
  { value: 'maintainer', label: 'maintainer: starts runs' },
  { value: 'admin', label: 'admin: manages members and tokens' },
];
