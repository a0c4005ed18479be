/** What a caller is known by: an address without its domain. */
export function shortWho(id: string): string {
  return id.replace(/@.*/, "") || id;
}
