/** Finds a plain text in the lines of a log, ignoring case, up to a number of matches. */

/** More matches help nobody and slow the page. */
export const MAX_MATCHES = 5000;

export interface Match {
  line: number;
  start: number;
}

export interface LogMatches {
  matches: readonly Match[];
  isCut: boolean;
}

/** Converts lines to lower case, except lines whose length this would change (by letters such as İ). */
export function searchable(lines: readonly string[]): readonly string[] {
  return lines.map((line) => {
    const lower = line.toLowerCase();
    return lower.length === line.length ? lower : line;
  });
}

/** Finds a text in lines that `searchable` returned. */
export function findInLines(
  lines: readonly string[],
  wanted: string,
): LogMatches {
  const needle = wanted.toLowerCase();
  const matches: Match[] = [];
  if (needle === '') return { matches, isCut: false };
  for (const [line, text] of lines.entries()) {
    for (
      let at = text.indexOf(needle);
      at !== -1;
      at = text.indexOf(needle, at + needle.length)
    ) {
      if (matches.length === MAX_MATCHES) return { matches, isCut: true };
      matches.push({ line, start: at });
    }
  }
  return { matches, isCut: false };
}
