/** The files that a person chose: each is recognised at once, and stored only when the person says so. */
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import {
  importKeys,
  MAX_FILE_BYTES,
  previewFile,
  storeFile,
  type Origin,
  type StoredFile,
} from '../../api/imports';
import type { ImportPreview } from '../../api/types';
import { compact } from '../../lib/search-values';
import { formatInteger, formatValue } from '../../lib/units';

export type UploadState =
  | { kind: 'reading' }
  | { kind: 'refused'; error: Error }
  | { kind: 'recognised'; preview: ImportPreview; error: Error | null }
  | { kind: 'storing'; preview: ImportPreview }
  | { kind: 'stored'; stored: StoredFile };

export interface Upload {
  id: number;
  file: File;
  state: UploadState;
}

/** Returns the tool with its version. */
export function toolOf({ tool, version }: ImportPreview): string {
  return [tool, version].filter((part) => part !== null).join(' ');
}

/** Returns a count with its noun, e.g. "1 file" or "2,000 files". */
export function countOf(count: number, noun: string, plural = `${noun}s`) {
  return `${formatInteger(count)} ${count === 1 ? noun : plural}`;
}

/** Returns what a person is told about a file that changed its state. */
function announce({ file: { name }, state }: Upload): string {
  if (state.kind === 'refused')
    return `${name} is not imported: ${state.error.message}`;
  if (state.kind === 'stored')
    return state.stored.isNew
      ? `${name} is imported`
      : `${name} was imported before`;
  if (state.kind !== 'recognised') return '';
  return state.error === null
    ? `${name}: ${toolOf(state.preview)}, ${countOf(state.preview.case_count, 'case')}`
    : `${name} is not imported: ${state.error.message}`;
}

/** Keeps what a person said where a file says nothing itself. */
function originFor(preview: ImportPreview, said: Origin): Origin {
  const { commit, branch, at, ...chosen } = said;
  const lacking = Object.entries(compact({ commit, branch, at })).filter(
    ([name]) => preview[name as 'commit' | 'branch' | 'at'] === null,
  );
  return { ...chosen, ...Object.fromEntries(lacking) };
}

export function useUploads() {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [announcement, setAnnouncement] = useState('');
  const nextId = useRef(0);
  // One after another: the server has memory for few files at once.
  const queue = useRef(Promise.resolve());
  const queryClient = useQueryClient();

  const change = (upload: Upload, state: UploadState) => {
    setUploads((all) =>
      all.map((other) =>
        other.id === upload.id ? { ...other, state } : other,
      ),
    );
    setAnnouncement(announce({ ...upload, state }));
  };
  const read = async (upload: Upload) => {
    try {
      const preview = await previewFile(upload.file);
      change(upload, { kind: 'recognised', preview, error: null });
    } catch (error) {
      change(upload, { kind: 'refused', error: error as Error });
    }
  };
  const store = async (
    upload: Upload,
    preview: ImportPreview,
    said: Origin,
  ) => {
    try {
      const stored = await storeFile(upload.file, originFor(preview, said));
      change(upload, { kind: 'stored', stored });
    } catch (error) {
      change(upload, { kind: 'recognised', preview, error: error as Error });
    }
  };
  return {
    uploads,
    announcement,
    add(files: readonly File[]) {
      const added = files.map((file): Upload => {
        const id = (nextId.current += 1);
        if (file.size <= MAX_FILE_BYTES)
          return { id, file, state: { kind: 'reading' } };
        const size = formatValue(file.size, 'bytes');
        const error = new Error(
          `It has ${size}: at most ${formatValue(MAX_FILE_BYTES, 'bytes')} are read. Split it.`,
        );
        return { id, file, state: { kind: 'refused', error } };
      });
      setUploads((all) => [...all, ...added]);
      for (const upload of added) {
        if (upload.state.kind === 'reading')
          queue.current = queue.current.then(() => read(upload));
        else setAnnouncement(announce(upload));
      }
    },
    storeAll(said: Origin) {
      for (const upload of uploads) {
        if (upload.state.kind !== 'recognised') continue;
        const { preview } = upload.state;
        change(upload, { kind: 'storing', preview });
        queue.current = queue.current.then(() => store(upload, preview, said));
      }
      queue.current = queue.current.then(() =>
        queryClient.invalidateQueries({ queryKey: importKeys.lists }),
      );
    },
    remove(id: number) {
      setUploads((all) => all.filter((upload) => upload.id !== id));
    },
    clear() {
      setUploads([]);
    },
  };
}
