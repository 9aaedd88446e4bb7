/**
 * Sends all requests of the dashboard. Its types are made from backend/openapi.json. Every failure becomes an
 * `ApiError`, so callers never look at a status. Nothing is cached here: TanStack Query does that.
 */
import createClient from 'openapi-fetch';

import { ApiError, networkError, toApiError } from './errors';
import { nameProject } from './project';
import type { paths } from './schema.gen';

export const client = createClient<paths>({
  baseUrl: window.location.origin,
  // `fetch` is looked up per call, so that tests can intercept it.
  fetch: (request) => globalThis.fetch(request),
});

client.use(nameProject);

interface FetchAnswer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the data of a response. Throws an ApiError if the request failed, and an AbortError if it was aborted. */
export async function unwrap<T>(pending: Promise<FetchAnswer<T>>): Promise<T> {
  let answer: FetchAnswer<T>;
  try {
    answer = await pending;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError')
      throw cause;
    throw cause instanceof ApiError ? cause : networkError(cause);
  }
  if (!answer.response.ok)
    throw toApiError(answer.response.status, answer.error);
  return answer.data as T;
}
