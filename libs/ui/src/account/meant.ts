const KEY = 'ui-meant';

/** Where somebody was meant to go, while the way to a new password leads over a mail; in this window only. */
export const meant = {
  keep(next: string | undefined): void {
    const storage = room();
    if (next === undefined) storage?.removeItem(KEY);
    else storage?.setItem(KEY, next);
  },
  kept: (): string | undefined => room()?.getItem(KEY) ?? undefined,
  forget: (): void => room()?.removeItem(KEY),
};

/** None in a browser that keeps nothing for pages: the log-in then leads to the start. */
function room(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}
