type Room = 'sessionStorage' | 'localStorage';

/** What the browser keeps for the page; nothing where it keeps nothing: it then has no such thing, or refuses to be asked for it. */
function roomOf(name: Room): Storage | undefined {
  try {
    return window[name] ?? undefined;
  } catch {
    return undefined;
  }
}

/** For this window alone, until it is closed. */
export const roomOfWindow = () => roomOf('sessionStorage');

/** For all windows of the browser. */
export const roomOfBrowser = () => roomOf('localStorage');

/** One that gives no more room loses it, as one that keeps nothing. */
export function keepIn(room: Storage | undefined, key: string, text: string): void {
  try {
    room?.setItem(key, text);
  } catch {
    // It is full, or has room for nothing at all.
  }
}
