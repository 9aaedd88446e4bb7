/** Search values of /sign-in. */
import { textValue } from '../../lib/search-values';

export interface SignInSearch {
  next?: string | undefined;
}

/** `next` must be a path of this site: anything else could send a visitor elsewhere after signing in. */
export function parseSignInSearch(
  search: Record<string, unknown>,
): SignInSearch {
  const next = textValue(search['next']);
  const ours =
    next !== undefined &&
    /^\/(?![/\\])/.test(next) &&
    !next.startsWith('/sign-in');
  return { next: ours ? next : undefined };
}
