/** Requests of admins of the installation: accounts, projects, and the targets that a project may use. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  GrantedTarget,
  InstallationAccount,
  OneTimeLink,
  Page,
  Project,
} from './types';

export const installationKeys = {
  accounts: ['installation-accounts'] as const,
  projects: ['projects'] as const,
  targets: ['granted-targets'] as const,
};

export interface AccountFilters {
  q?: string | undefined;
  cursor?: string | undefined;
}

export function installationAccountsQuery(filters: AccountFilters) {
  return queryOptions({
    queryKey: [...installationKeys.accounts, filters],
    queryFn: ({ signal }): Promise<Page<InstallationAccount>> =>
      unwrap(
        client.GET('/api/v1/installation/accounts', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
  });
}

export async function disableAccount(id: string): Promise<void> {
  await unwrap(
    client.POST('/api/v1/accounts/{account_id}/disable', {
      params: { path: { account_id: id } },
    }),
  );
}

export async function enableAccount(id: string): Promise<void> {
  await unwrap(
    client.POST('/api/v1/accounts/{account_id}/enable', {
      params: { path: { account_id: id } },
    }),
  );
}

export async function setInstallationAdmin(
  id: string,
  isAdmin: boolean,
): Promise<void> {
  await unwrap(
    client.PUT('/api/v1/accounts/{account_id}/installation-admin', {
      params: { path: { account_id: id } },
      body: { is_installation_admin: isAdmin },
    }),
  );
}

export function createResetLink(id: string): Promise<OneTimeLink> {
  return unwrap(
    client.POST('/api/v1/accounts/{account_id}/reset-link', {
      params: { path: { account_id: id } },
    }),
  );
}

export async function signOutAccount(id: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/accounts/{account_id}/sessions', {
      params: { path: { account_id: id } },
    }),
  );
}

export const projectsQuery = queryOptions({
  queryKey: installationKeys.projects,
  queryFn: ({ signal }): Promise<Page<Project>> =>
    unwrap(
      client.GET('/api/v1/projects', {
        signal,
        params: { query: { limit: 200 } },
      }),
    ),
});

export function createProject(name: string, title: string): Promise<Project> {
  return unwrap(
    client.POST('/api/v1/projects', {
      body: { name, title, default_branch: 'main', visibility: 'private' },
    }),
  );
}

export const grantedTargetsQuery = queryOptions({
  queryKey: installationKeys.targets,
  queryFn: ({ signal }): Promise<Page<GrantedTarget>> =>
    unwrap(
      client.GET('/api/v1/project/targets', {
        signal,
        params: { query: { limit: 200 } },
      }),
    ),
});

export async function setGrant(
  targetId: string,
  granted: boolean,
): Promise<void> {
  const params = { path: { target_id: targetId } };
  await unwrap(
    granted
      ? client.PUT('/api/v1/project/targets/{target_id}', { params })
      : client.DELETE('/api/v1/project/targets/{target_id}', { params }),
  );
}
