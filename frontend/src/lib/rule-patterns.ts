/** Formats the scope of a rule, which is five patterns. */
export const PATTERNS = [
  'suite',
  'benchmark',
  'arm',
  'metric',
  'target',
] as const;
export type PatternName = (typeof PATTERNS)[number];

/** Returns a text such as "suite hashing · arm native", or "everything" without patterns. */
export function rulePatternsText(
  rule: Readonly<Record<PatternName, string>>,
): string {
  const narrowed = PATTERNS.filter((name) => rule[name] !== '*');
  return narrowed.length === 0
    ? 'everything'
    : narrowed.map((name) => `${name} ${rule[name]}`).join(' · ');
}
