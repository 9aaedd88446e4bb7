/** Formats params for people and as keys; a key does not depend on the order of the names. */
export type Params = Readonly<Record<string, number | string>>;

function sorted(params: Params): [string, number | string][] {
  return Object.entries(params).toSorted(([a], [b]) => a.localeCompare(b));
}

/** Returns each param as a text such as `batch=1000`. */
export function paramTexts(params: Params): string[] {
  return sorted(params).map(([name, value]) => `${name}=${value}`);
}

/** Returns a stable key of a point that is safe in a URL, e.g. `batch=1000,size=64`. */
export function paramsKey(params: Params): string {
  return paramTexts(params).join(',');
}

/** Returns a label such as "batch 1,000 · mode fast", or "no params". */
export function paramsLabel(params: Params): string {
  const parts = sorted(params).map(
    ([name, value]) => `${name} ${formatParam(value)}`,
  );
  return parts.length === 0 ? 'no params' : parts.join(' · ');
}

export function formatParam(value: number | string): string {
  return typeof value === 'number' ? value.toLocaleString('en-GB') : value;
}

/** Compares points by their values, numbers as numbers. */
export function compareParams(a: Params, b: Params): number {
  for (const [name, left] of sorted(a)) {
    const right = b[name];
    if (right === undefined) return 1;
    if (typeof left === 'number' && typeof right === 'number') {
      if (left !== right) return left - right;
    } else if (String(left) !== String(right)) {
      return String(left).localeCompare(String(right));
    }
  }
  return 0;
}
