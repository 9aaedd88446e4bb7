/** The part of the fixture API's state about targets: their events and conditions. */
import type { ImportDetail, TargetConditions, TargetEvent } from '../api/types';
import { document } from './fixtures-imports';
import { conditions, events, olderEvents } from './fixtures-targets';

export interface Fleet {
  events: TargetEvent[];
  /** The page after `events`. */
  olderEvents: TargetEvent[];
  conditions: TargetConditions;
  /** Every window that was asked for: its beginning. */
  windows: (string | null)[];
  /** Every action that was asked for, with its body. */
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
