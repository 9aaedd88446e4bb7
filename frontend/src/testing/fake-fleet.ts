/** The fake server's state of targets: their events and conditions. */
import type {
  ImportDetail,
  ImportPreview,
  TargetConditions,
  TargetEvent,
} from '../api/types';
import { document, preview } from './fixtures-imports';
import { conditions, events, olderEvents } from './fixtures-targets';

export interface Fleet {
  events: TargetEvent[];
  /** The page after `events`. */
  olderEvents: TargetEvent[];
  conditions: TargetConditions;
  /** The beginning of every window that was requested. */
  windows: (string | null)[];
  /** Every action that was requested, with its body. */
  asked: { action: string; body: unknown }[];
  imports: ImportDetail[];
  /** What is recognised in every file that is uploaded, unless it holds `nonsense`. */
  preview: ImportPreview;
  /** The query of every file that was stored. */
  stored: Record<string, string>[];
}

export function createFleet(): Fleet {
  return {
    events: [...events],
    olderEvents: [...olderEvents],
    conditions,
    windows: [],
    asked: [],
    imports: [document],
    preview,
    stored: [],
  };
}
