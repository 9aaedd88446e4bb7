/**
 * Reads search values of an address: unknown or malformed values become undefined, never an error page. A parser
 * must name every key even when it is undefined, because the router merges its result into the raw values.
 */

export function textValue(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' && value.length <= 500
    ? value
    : undefined;
}

export function oneOf<T extends string>(
  value: unknown,
  allowed: readonly T[],
): T | undefined {
  return allowed.find((candidate) => candidate === value);
}

/** Removes undefined values, so that the URL has no empty ones. */
export function compact<T extends object>(search: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(search).filter(
      ([, value]) => value !== undefined && value !== '',
    ),
  ) as Partial<T>;
}

/** Parses an instant with a time zone, which the server requires; anything else becomes undefined. */
export function instantValue(value: unknown): string | undefined {
  const text = textValue(value);
  return text !== undefined && /^\d{4}-\d\d-\d\dT.*Z$/.test(text)
    ? text
    : undefined;
}
