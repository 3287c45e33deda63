/** Text that Postgres takes as it is: no NUL, and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The same for every text in a value, names of members included; the depth is the library's, which read it. */
export function holdsOnlyStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && holdsOnlyStorable(member));
}
