/** Parses the search value that every page has: its project. */
import { textValue } from '../lib/search-values';

export interface ProjectSearch {
  project?: string | undefined;
}

export function parseProjectSearch(
  search: Record<string, unknown>,
): ProjectSearch {
  const project = textValue(search['project']);
  return project === undefined ? {} : { project };
}
