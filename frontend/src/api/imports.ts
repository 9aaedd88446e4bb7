/** Requests about imports: documents that other tools printed, as the server read them. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import { apiAddress } from './project';
import type {
  ImportDetail,
  ImportedDocument,
  ImportPreview,
  Page,
} from './types';

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

/** The longest file that the server reads. */
export const MAX_FILE_BYTES = 8 * 2 ** 20;
const MAX_NAME = 200;

/**
 * What a person says about a file: the target that measured, the announced suite whose benchmarks it has, whether its
 * points count in history, and where the file is from if it does not say so itself.
 */
export interface Origin {
  on?: string;
  suite?: string;
  judge?: true;
  commit?: string;
  branch?: string;
  at?: string;
}

/** Returns what would be stored of a file. */
export async function previewFile(file: File): Promise<ImportPreview> {
  const request = await uploadOf(file, {});
  return unwrap(client.POST('/api/v1/imports/preview', request));
}

export interface StoredFile {
  document: ImportDetail;
  /** False if the same was stored before. */
  isNew: boolean;
}

/** Stores a file, which the server reads again as for its preview. */
export async function storeFile(
  file: File,
  origin: Origin,
): Promise<StoredFile> {
  const request = await uploadOf(file, origin);
  const pending = client.POST('/api/v1/imports/files', request);
  const document = await unwrap<ImportDetail>(pending);
  return { document, isNew: (await pending).response.status === 201 };
}

async function uploadOf(file: File, origin: Origin) {
  let bytes: ArrayBuffer;
  try {
    bytes = await file.arrayBuffer();
  } catch {
    throw new Error(
      'It cannot be read here. Directories, such as target/criterion, are imported with `paceline import`.',
    );
  }
  return {
    params: { query: { file: file.name.slice(0, MAX_NAME), ...origin } },
    headers: { 'Content-Type': 'application/octet-stream' },
    // The schema's type of bytes.
    body: bytes as unknown as string,
    bodySerializer: (body: unknown) => body as ArrayBuffer,
  };
}

export async function deleteImport(id: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/imports/{import_id}', {
      params: { path: { import_id: id } },
    }),
  );
}
