/** The short form of an id. Ids start with their kind and their time, so only the end tells two apart. */
export function shortId(id: string): string {
  return id.slice(-6);
}
