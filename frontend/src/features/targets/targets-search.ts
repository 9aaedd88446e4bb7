/** Parses the search values of the list of targets and of one target. */
import type { TargetFilters } from '../../api/targets';
import type { EventAxis, HealthState, Target } from '../../api/types';
import { oneOf, textValue } from '../../lib/search-values';

export const KINDS: readonly Target['kind'][] = ['host', 'device'];
export const STATES: readonly Target['state'][] = ['online', 'busy', 'offline'];
/** Most severe first. */
export const HEALTHS: readonly HealthState[] = [
  'quarantined',
  'suspect',
  'recovering',
  'checking',
  'unknown',
  'good',
];
export const AXES: readonly EventAxis[] = [
  'connection',
  'health',
  'maintenance',
  'order',
  'recovery',
];

export interface TargetsSearch extends Omit<TargetFilters, 'simulated'> {
  simulated?: 'yes' | 'no' | undefined;
}

export function parseTargetsSearch(
  search: Record<string, unknown>,
): TargetsSearch {
  return {
    kind: oneOf(search['kind'], KINDS),
    state: oneOf(search['state'], STATES),
    health: oneOf(search['health'], HEALTHS),
    simulated: oneOf(search['simulated'], ['yes', 'no']),
    q: textValue(search['q']),
    cursor: textValue(search['cursor']),
  };
}

export const SPANS = ['day', 'week', 'month'] as const;
export type Span = (typeof SPANS)[number];

/** `over` is how far back conditions are drawn; `axis` filters the events. */
export interface TargetSearch {
  over?: Span | undefined;
  axis?: EventAxis | undefined;
}

export function parseTargetSearch(
  search: Record<string, unknown>,
): TargetSearch {
  return {
    over: oneOf(search['over'], SPANS),
    axis: oneOf(search['axis'], AXES),
  };
}
