/** What each permission allows, in the order in which roles get them. */
export const PERMISSION_LABELS = {
  'project.read': 'read everything of the project',
  'members.read': 'see who its members are',
  'audit.read': 'read its audit log',
  'alerts.triage': 'decide about alerts',
  'annotations.write': 'write remarks beside series',
  'benchmarks.write': 'retire benchmarks',
  'rules.write': 'write and mute rules',
  'runs.create': 'start and stop runs, A/B runs and bisections',
  'targets.use': 'occupy the targets granted to the project',
  'imports.write': 'import results of other tools',
  'schedules.write': 'let the server start runs by itself',
  'channels.write': 'say where notifications go',
  'members.write': 'add and remove members and give roles',
  'tokens.write': 'make and revoke tokens',
  'project.write': "change the project's settings",
  'installation.admin': 'administer the installation',
} as const;

export type NamedPermission = keyof typeof PERMISSION_LABELS;

export const NAMED_PERMISSIONS = Object.keys(
  PERMISSION_LABELS,
) as NamedPermission[];
