/** Search values of /matrix. */
import { textValue } from '../../lib/search-values';

export interface MatrixSearch {
  suite?: string | undefined;
  branch?: string | undefined;
}

export function parseMatrixSearch(
  search: Record<string, unknown>,
): MatrixSearch {
  return {
    suite: textValue(search['suite']),
    branch: textValue(search['branch']),
  };
}
