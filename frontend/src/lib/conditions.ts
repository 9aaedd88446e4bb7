/** Names and units of what is read while a job measures. Pure: the unit is the end of the name. */
import { formatNumber, formatValue } from './units';

const KNOWN: readonly (readonly [pattern: RegExp, label: string])[] = [
  [/freq(?!.*cap)/, 'CPU frequency'],
  [/temp|celsius|thermal_c/, 'Temperature'],
  [/^load(_1m|$)/, 'Load (1 min)'],
  [/^workload_wait/, 'Workload waited for a CPU'],
  [/(psi|pressure)_?cpu/, 'CPU pressure (PSI)'],
  [/^cpu_percent/, 'CPU use'],
  [/steal/, 'Stolen by the hypervisor'],
  [/(psi|pressure)_?mem/, 'Memory pressure (PSI)'],
  [/(psi|pressure)_?io/, 'I/O pressure (PSI)'],
  [/^memory_available/, 'Memory available'],
  [/battery_percent/, 'Battery'],
];

export function conditionFormat(key: string): (value: number) => string {
  if (key.endsWith('_mhz')) return (value) => `${formatNumber(value / 1e3)} GHz`;
  if (key.endsWith('_bytes')) return (value) => formatValue(value, 'bytes');
  if (key.endsWith('_percent')) return (value) => `${formatNumber(value)} %`;
  if (key.endsWith('_c')) return (value) => `${formatNumber(value)} °C`;
  return formatNumber;
}

/** The known quantities first, in this order. */
export function compareConditions(a: string, b: string): number {
  return rank(a) - rank(b) || a.localeCompare(b);
}

function rank(key: string): number {
  const index = KNOWN.findIndex(([pattern]) => pattern.test(key));
  return index < 0 ? KNOWN.length : index;
}

/** "Temperature · k10temp": the quantity and, where it is a known one, which reading of it. */
function fullLabel(key: string): string {
  const known = KNOWN.find(([pattern]) => pattern.test(key))?.[1];
  const plain = key.replace(/_(mhz|bytes|percent|c)$/, '').replaceAll('_', ' ');
  return known === undefined ? plain : `${known} · ${plain}`;
}

/** Labels of several readings: the quantity's name alone, where only one of them is of it. */
export function conditionLabels(keys: readonly string[]): string[] {
  const full = keys.map(fullLabel);
  const heads = full.map((label) => label.split(' · ')[0] ?? label);
  return full.map((label, index) => {
    const head = heads[index] ?? label;
    return heads.filter((other) => other === head).length === 1 ? head : label;
  });
}
