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

export const nameProject: Middleware = {
  onRequest({ request }) {
    if (selected === undefined) return undefined;
    const url = new URL(request.url);
    url.searchParams.set('project', selected);
    return new Request(url, request);
  },
};
