/** The longest that a platform may take; after it the call is over, whatever the connector does. */
export const CALL_TIMEOUT_MS = 60_000;

/** How long a call waits for another with the same key, before it is answered or runs itself. */
export const KEY_WAIT_MS = 30_000;

/** The longest that an accepted call takes: so long a process that is told to stop waits for it. */
export const CALL_LONGEST_MS = KEY_WAIT_MS + CALL_TIMEOUT_MS;
