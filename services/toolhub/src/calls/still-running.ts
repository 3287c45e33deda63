/** By these words the page that tries tools knows that its call goes on, and asks again with the same key. */
export const STILL_RUNNING =
  'An earlier call with this idempotency_key still runs. Nothing was sent now; ask again later.';
