/**
 * Labels a target's conditions. Names end in the unit; a part of a quantity follows a dot
 * (`cpu_frequency_mhz.cpu4-7`).
 */
import { formatDuration } from './times';
import { formatInteger, formatNumber, formatValue } from './units';

/** Android's names of a thermal status (PowerManager), by number. */
export const THERMAL_STATUS: readonly string[] = [
  'none',
  'light',
  'moderate',
  'severe',
  'critical',
  'emergency',
  'shutdown',
];

const KNOWN: readonly (readonly [pattern: RegExp, label: string])[] = [
  [/freq(?!.*cap)/, 'CPU frequency'],
  [/temp|celsius|thermal_c/, 'Temperature'],
  [/^battery_c$/, 'Battery temperature'],
  [/^thermal_status$/, 'Thermal status'],
  [/^throttling$/, 'Throttling, the worst sensor'],
  [/^cpu_frequency_cap/, 'CPU frequency cap'],
  [/^cpu_mean_mhz$/, 'Mean CPU frequency'],
  [/^load(_1m|$)/, 'Load (1 min)'],
  [/^workload_wait/, 'Workload waited for a CPU'],
  [/(psi|pressure)_?cpu/, 'CPU pressure (PSI)'],
  [/^cpu_percent/, 'CPU use'],
  [/^others_cpu/, 'CPU use of other processes'],
  [/steal/, 'Stolen by the hypervisor'],
  [/(psi|pressure)_?mem/, 'Memory pressure (PSI)'],
  [/(psi|pressure)_?io/, 'I/O pressure (PSI)'],
  [/^memory_available/, 'Memory available'],
  [/battery_percent/, 'Battery'],
  [/^charging$/, 'Charging'],
  [/^free_bytes$/, 'Free space'],
  [/^cpu_at_top/, 'Share at the highest clock'],
];

/** Returns the name of a status; empty for a tick between two statuses. */
function thermalStatus(value: number): string {
  return Number.isInteger(value)
    ? (THERMAL_STATUS[value] ?? formatInteger(value))
    : '';
}

export function conditionFormat(key: string): (value: number) => string {
  const [name = key] = key.split('.');
  if (name === 'thermal_status' || name === 'throttling') return thermalStatus;
  if (name === 'charging') return (value) => (value > 0 ? 'yes' : 'no');
  if (name.endsWith('_mhz'))
    return (value) => `${formatNumber(value / 1e3)} GHz`;
  if (name.endsWith('_bytes')) return (value) => formatValue(value, 'bytes');
  if (name.endsWith('_percent')) return (value) => `${formatNumber(value)} %`;
  if (name.endsWith('_c')) return (value) => `${formatNumber(value)} °C`;
  if (name.endsWith('_s')) return formatDuration;
  return formatNumber;
}

/** Compares keys so that known quantities come first, in this order. */
export function compareConditions(a: string, b: string): number {
  return rank(a) - rank(b) || a.localeCompare(b);
}

function rank(key: string): number {
  const index = KNOWN.findIndex(([pattern]) => pattern.test(key));
  return index < 0 ? KNOWN.length : index;
}

/** Returns a known quantity and its reading, e.g. "Temperature · k10temp"; otherwise only the reading. */
function fullLabel(key: string): string {
  const known = KNOWN.find(([pattern]) => pattern.test(key))?.[1];
  const [name = key, part] = key.split('.');
  const plain =
    part ?? name.replace(/_(mhz|bytes|percent|c|s)$/, '').replaceAll('_', ' ');
  return known === undefined ? plain : `${known} · ${plain}`;
}

/** Returns the labels of readings; the only reading of a quantity has the quantity as its label. */
export function conditionLabels(keys: readonly string[]): string[] {
  const full = keys.map(fullLabel);
  const quantities = full.map((label) => label.split(' · ')[0] ?? label);
  return full.map((label, index) => {
    const quantity = quantities[index] ?? label;
    return quantities.filter((other) => other === quantity).length === 1
      ? quantity
      : label;
  });
}
