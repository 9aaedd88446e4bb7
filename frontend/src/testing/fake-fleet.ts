/** The fake server's state of targets: their events and conditions. */
import type { ImportDetail, TargetConditions, TargetEvent } from '../api/types';
import { document } from './fixtures-imports';
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
}

export function createFleet(): Fleet {
  return {
    events: [...events],
    olderEvents: [...olderEvents],
    conditions,
    windows: [],
    asked: [],
    imports: [document],
  };
}
