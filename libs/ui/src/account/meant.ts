import { keepIn, roomOfBrowser } from '../app/room.ts';

const KEY = 'ui-meant';
/** As long as the link of the mail works. */
const KEPT_MS = 60 * 60_000;

interface Meant {
  next: string;
  at: number;
}

/**
 * Where somebody was meant to go, while the way to a new password leads over a mail. Of the whole browser, since the link of a mail
 * opens another window; it does not stand in the link, or a stranger who asks for the mail could write into it.
 */
export const meant = {
  keep(next: string | undefined): void {
    if (next === undefined) meant.forget();
    else keepIn(roomOfBrowser(), KEY, JSON.stringify({ next, at: Date.now() } satisfies Meant));
  },
  kept(): string | undefined {
    const text = roomOfBrowser()?.getItem(KEY) ?? null;
    if (text === null) return undefined;
    const { next, at } = JSON.parse(text) as Meant;
    return Date.now() - at < KEPT_MS ? next : undefined;
  },
  forget: (): void => roomOfBrowser()?.removeItem(KEY),
};
