const KEY = 'ui-meant';

/** Where somebody was meant to go, while the way to a new password leads over a mail; in this window only. */
export const meant = {
  keep(next: string | undefined): void {
    try {
      if (next === undefined) meant.forget();
      else sessionStorage.setItem(KEY, next);
    } catch {
      // A browser that gives no room: the log-in then leads to the start.
    }
  },
  kept: (): string | undefined => sessionStorage.getItem(KEY) ?? undefined,
  forget: (): void => sessionStorage.removeItem(KEY),
};
