import { loginErrorDefinitions } from '@libs/login';
import { defineErrors } from '@libs/runtime';

/** Every code that this API answers with. The page of errors and both SDKs are checked against it. */
export const errors = defineErrors({
  unauthorized: {
    kind: 'unauthenticated',
    title: 'Unauthorized',
    detail: 'Send a valid API key as `Authorization: Bearer <key>`.',
    help: 'The key is missing, unknown, expired or revoked.',
  },
  insufficient_scope: {
    kind: 'forbidden',
    title: 'Insufficient scope',
    detail: 'This key may not do this.',
    help: 'Use a key that has the scope that `required_scope` names.',
  },
  wrong_mode: {
    kind: 'forbidden',
    title: 'Wrong mode',
    detail: 'The sandbox takes test keys only.',
    help: 'Everything under `/v1/sandbox` needs a key that begins with `sk_test_`.',
  },
  forbidden: {
    kind: 'forbidden',
    title: 'Forbidden',
    detail: "This is the operator's: it needs the admin token.",
  },
  ...loginErrorDefinitions,
  person_required: {
    kind: 'forbidden',
    title: 'Person required',
    detail: 'Only a person who is logged in may do this; a key is not enough.',
    help: 'These calls belong to the dashboard and take its session cookie.',
  },
  insufficient_role: {
    kind: 'forbidden',
    title: 'Insufficient role',
    detail: 'Your role in this organisation does not allow this.',
    help: 'Viewers read; developers also write and have keys; owners also manage members. Ask an owner.',
  },
  email_not_verified: {
    kind: 'forbidden',
    title: 'E-mail address not verified',
    detail: 'Verify your e-mail address first, by the link in the mail.',
    help: 'Ask for another mail with `POST /v1/session/verify/resend`.',
  },
  last_owner: {
    kind: 'conflict',
    title: 'Last owner',
    detail: 'An organisation keeps at least one owner; make somebody else an owner first.',
  },
  already_member: {
    kind: 'conflict',
    title: 'Already a member',
    detail: 'Somebody with this e-mail address is a member already.',
  },
  invitation_for_another: {
    kind: 'forbidden',
    title: 'Invitation for another address',
    detail: 'This invitation was sent to another e-mail address than yours.',
    help: 'Log in as the person whose address it went to, or ask to be invited at yours.',
  },
  no_organisation: {
    kind: 'forbidden',
    title: 'No organisation',
    detail: 'You are not a member of this organisation any more; choose another one.',
    help: 'Switch with `POST /v1/session/organisation`, or make one with `POST /v1/session/organisations`.',
  },
  organisation_switched: {
    kind: 'conflict',
    title: 'Organisation switched',
    detail: 'The session looks at another organisation than this page; reload the page.',
    help: 'A page sends the organisation that it shows as `Payments-Organisation`; another tab has switched since.',
  },
  live_access_required: {
    kind: 'forbidden',
    title: 'Live access required',
    detail: 'The operator has not approved this organisation for live mode.',
    help: 'An owner asks for it with `POST /v1/live_access`.',
  },
  network_message_unknown: {
    kind: 'malformed',
    title: 'Unknown network message',
    detail: 'This is no message that the network sends.',
    help: 'The gateway delivers pacs.002 status reports, each as the whole body.',
  },
  unsupported_api_version: {
    kind: 'malformed',
    title: 'Unsupported API version',
    detail: 'This Api-Version does not exist.',
    help: 'Leave the header out, or send one of the versions in `supported_versions`.',
  },
  idempotency_key_required: {
    kind: 'malformed',
    title: 'Idempotency key required',
    detail: 'Send an Idempotency-Key header: a string of your own for each payment.',
    help: 'A repeated request with the same key gets the first answer again, and moves no money twice.',
  },
  idempotency_key_invalid: {
    kind: 'malformed',
    title: 'Invalid idempotency key',
    detail: 'An Idempotency-Key has 1 to 255 printable ASCII characters, bare or in double quotes.',
  },
  idempotency_key_reused: {
    kind: 'refused',
    title: 'Idempotency key reused',
    detail: 'This Idempotency-Key was used with another body.',
    help: 'Use a new key for a new request. Keys are kept for 30 days.',
  },
  idempotency_key_in_use: {
    kind: 'conflict',
    title: 'Idempotency key in use',
    detail: 'A request with this Idempotency-Key is being worked on.',
    retryable: true,
    help: 'Send the same request again after Retry-After.',
  },
  amount_too_large: {
    kind: 'refused',
    title: 'Amount too large',
    detail: 'The amount is more than one payment can carry.',
    help: 'At most 9,999,999,999 minor units.',
  },
  currency_not_supported: {
    kind: 'refused',
    title: 'Currency not supported',
    detail: 'The rails carry USD.',
  },
  same_payment_method: {
    kind: 'refused',
    title: 'Same payment method',
    detail: 'Source and destination are the same payment method.',
  },
  payment_method_not_found: {
    kind: 'refused',
    title: 'Payment method not found',
    detail: 'There is no such payment method.',
    help: 'The pointer in `errors` says which side. In test mode any new id that begins with `pm_` works.',
  },
  insufficient_funds: {
    kind: 'refused',
    title: 'Insufficient funds',
    detail: 'The balance has less available than this payment needs.',
  },
  rail_not_available: {
    kind: 'refused',
    title: 'Rail not available',
    detail: 'No rail that was asked for can carry this payment.',
    help: '`candidates` lists every rail with the reasons why it cannot.',
  },
  rail_not_configured: {
    kind: 'unavailable',
    title: 'Rail not configured',
    detail: 'This instance is not connected to a rail for live payments.',
    retryable: false,
  },
  payment_not_cancelable: {
    kind: 'conflict',
    title: 'Payment not cancelable',
    detail: 'Only a pending payment can be canceled.',
  },
  payment_not_refundable: {
    kind: 'conflict',
    title: 'Payment not refundable',
    detail: 'Only a completed payment that is no refund itself can be refunded.',
  },
  refund_exceeds_payment: {
    kind: 'refused',
    title: 'Refund exceeds payment',
    detail: 'All refunds of a payment add up to at most its amount.',
    help: '`refundable_amount` says how much is left.',
  },
  payment_method_in_use: {
    kind: 'conflict',
    title: 'Payment method in use',
    detail: 'Payments of this payment method are still open.',
  },
  balance_not_empty: {
    kind: 'conflict',
    title: 'Balance not empty',
    detail: 'A balance can be deleted when nothing is in it, on its way, or owed.',
  },
  not_a_balance: {
    kind: 'refused',
    title: 'Not a balance',
    detail: 'Only a payment method of type balance can be funded.',
  },
  webhook_url_refused: {
    kind: 'refused',
    title: 'Webhook address refused',
    detail: 'Webhooks go to public https addresses only.',
  },
  limit_reached: {
    kind: 'refused',
    title: 'Limit reached',
    detail: 'There are as many of these as one organisation may have.',
  },
  clock_backwards: {
    kind: 'refused',
    title: 'Clock backwards',
    detail: 'The sandbox clock only goes forward.',
  },
  clock_too_far: {
    kind: 'refused',
    title: 'Clock too far',
    detail: 'The sandbox clock may be at most ten years ahead of real time.',
    help: '`latest` says how far it may go.',
  },
  too_many_streams: {
    kind: 'rate_limited',
    title: 'Too many streams',
    detail: 'A key may have ten event streams open at once.',
    help: 'Close one, or listen to one stream for all.',
  },
  last_event_unknown: {
    kind: 'refused',
    title: 'Last event unknown',
    detail: 'There is no event with this Last-Event-ID within the last 24 hours.',
    help: 'List the events that you have missed, and connect without the header.',
  },
  payment_not_found: {
    kind: 'refused',
    title: 'Payment not found',
    detail: 'There is no such payment.',
  },
  quarantine_not_applicable: {
    kind: 'refused',
    title: 'Cannot be applied',
    detail: 'What was put aside does not fit this payment.',
  },
  state_conflict: {
    kind: 'conflict',
    title: 'State conflict',
    detail: 'The object is not in a state that allows this.',
  },
  overloaded: {
    kind: 'unavailable',
    title: 'Overloaded',
    detail: 'More requests wait than this server takes on; send it again.',
    retryable: true,
  },
});
