/** Names of targets as plain text, for the options of a choice. */
import { useQuery } from '@tanstack/react-query';

import { simulatedTargetsQuery } from '../api/targets';
import type { Target } from '../api/types';

function label(name: string, simulated: boolean): string {
  return simulated ? `${name} (simulated)` : name;
}

export function targetOption({ id, name, simulated }: Target): {
  value: string;
  label: string;
} {
  return { value: id, label: label(name, simulated) };
}

/** Returns a function that labels a target, for rows that do not say whether it is simulated. */
export function useTargetLabel(): (id: string, name: string) => string {
  const { data } = useQuery(simulatedTargetsQuery);
  return (id, name) => label(name, data?.has(id) === true);
}
