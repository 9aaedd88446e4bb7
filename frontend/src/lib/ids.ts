/** The short form of an id: its end, because ids begin with their kind and their time. */
export function shortId(id: string): string {
  return id.slice(-6);
}
