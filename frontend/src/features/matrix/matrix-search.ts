/** Search values of /matrix. */
import { text } from '../../lib/search-values';

export interface MatrixSearch {
  suite?: string | undefined;
  branch?: string | undefined;
}

export function parseMatrixSearch(
  search: Record<string, unknown>,
): MatrixSearch {
  return { suite: text(search['suite']), branch: text(search['branch']) };
}
