/** The scope of a rule, which is five patterns, as text. */
export const PATTERNS = [
  'suite',
  'benchmark',
  'arm',
  'metric',
  'target',
] as const;
export type PatternName = (typeof PATTERNS)[number];

/** "suite hashing · arm native"; "everything" when no pattern narrows it. */
export function rulePatternsText(
  rule: Readonly<Record<PatternName, string>>,
): string {
  const narrowed = PATTERNS.filter((name) => rule[name] !== '*');
  return narrowed.length === 0
    ? 'everything'
    : narrowed.map((name) => `${name} ${rule[name]}`).join(' · ');
}
