/**
 * The project that every request names. It is a value of the address (`?project=NAME`), so a link leads others to the
 * same place; without it the server takes `default`, or a person's only project.
 */
import type { Middleware } from 'openapi-fetch';

let selected: string | undefined;

/** Returns the project that requests name; undefined if they name none. */
export function selectedProject(): string | undefined {
  return selected;
}

/** Makes all requests from now on name this project; returns whether that is a change. */
export function selectProject(name: string | undefined): boolean {
  const changed = name !== selected;
  selected = name;
  return changed;
}

/** Returns the address of a path of the API, with the project, for links and streams, which `nameProject` does not see. */
export function apiAddress(
  path: string,
  query = new URLSearchParams(),
): string {
  if (selected !== undefined) query.set('project', selected);
  return query.size === 0 ? `/api/v1${path}` : `/api/v1${path}?${query}`;
}

export const nameProject: Middleware = {
  onRequest({ request }) {
    if (selected === undefined) return undefined;
    const url = new URL(request.url);
    url.searchParams.set('project', selected);
    return new Request(url, request);
  },
};
