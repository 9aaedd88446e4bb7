/** Returns the end of an id, because ids begin with their kind and their time. */
export function shortId(id: string): string {
  return id.slice(-6);
}
