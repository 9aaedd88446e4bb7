/**
 * Reads the whole log of an attempt as text, in pieces.
 *
 * At most MAX_CHARACTERS are kept; a longer log says so and can be downloaded.
 */
import { queryOptions } from '@tanstack/react-query';

import { client as http, unwrap } from './client';
import { apiAddress } from './project';
import { runKeys } from './runs';

/** About 300,000 lines, which a page can search between two keystrokes. */
export const MAX_CHARACTERS = 16_000_000;

export interface WholeLog {
  text: string;
  isCut: boolean;
}

/** Returns the address of the log as a download; the server names the file. */
export function logFileUrl(jobId: string, attempt: number): string {
  const query = new URLSearchParams({ format: 'text' });
  if (attempt > 0) query.set('attempt', String(attempt));
  return apiAddress(`/jobs/${encodeURIComponent(jobId)}/log`, query);
}

export function wholeLogQuery(jobId: string, attempt: number) {
  return queryOptions({
    queryKey: [...runKeys.job(jobId), 'whole-log', attempt] as const,
    queryFn: async ({ signal }): Promise<WholeLog> => {
      const query = {
        format: 'text' as const,
        ...(attempt > 0 ? { attempt } : {}),
      };
      const stream = await unwrap(
        http.GET('/api/v1/jobs/{job_id}/log', {
          signal,
          params: { path: { job_id: jobId }, query },
          parseAs: 'stream',
        }),
      );
      return readLog(
        stream as unknown as ReadableStream<Uint8Array> | undefined,
      );
    },
    // The log may have grown since it was last opened.
    staleTime: 0,
    gcTime: 0,
  });
}

async function readLog(
  stream: ReadableStream<Uint8Array> | undefined,
): Promise<WholeLog> {
  // An answer without a body has no stream.
  if (stream === undefined) return { text: '', isCut: false };
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let characters = 0;
  for (;;) {
    // Each piece follows the one before.
    // oxlint-disable-next-line no-await-in-loop
    const { done, value } = await reader.read();
    if (done) return { text: pieces.join('') + decoder.decode(), isCut: false };
    const piece = decoder.decode(value, { stream: true });
    pieces.push(piece);
    characters += piece.length;
    if (characters > MAX_CHARACTERS) {
      // oxlint-disable-next-line no-await-in-loop
      await reader.cancel();
      return { text: pieces.join('').slice(0, MAX_CHARACTERS), isCut: true };
    }
  }
}
