/** Requests about imports: documents that other tools printed, as the server read them. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import { apiAddress } from './project';
import type { ImportDetail, ImportedDocument, Page } from './types';

export interface ImportFilters {
  cursor?: string | undefined;
}

export const importKeys = {
  all: ['imports'] as const,
  lists: ['imports', 'list'] as const,
};

export function importsQuery(filters: ImportFilters) {
  return queryOptions({
    queryKey: [...importKeys.lists, filters],
    queryFn: ({ signal }): Promise<Page<ImportedDocument>> =>
      unwrap(
        client.GET('/api/v1/imports', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
  });
}

export function importQuery(id: string) {
  return queryOptions({
    queryKey: [...importKeys.all, 'one', id],
    queryFn: ({ signal }): Promise<ImportDetail> =>
      unwrap(
        client.GET('/api/v1/imports/{import_id}', {
          signal,
          params: { path: { import_id: id } },
        }),
      ),
  });
}

/** Returns the address of the file that a document was read from, for a link that downloads it. */
export function originalAddress(id: string): string {
  return apiAddress(`/imports/${encodeURIComponent(id)}/original`);
}

export async function deleteImport(id: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/imports/{import_id}', {
      params: { path: { import_id: id } },
    }),
  );
}
