/** One rule that the product keeps. Tests cite it by its id in square brackets, in their title. */
export interface Requirement {
  id: `P-${number}.${number}`;
  text: string;
}

/** Sections: 1 running, 2 conventions, 3 keys, 4 payments and payment methods, 6 ledger, 7 sandbox, 8 webhooks, 9 reference, 10 details. */
export const requirements: readonly Requirement[] = [
  // Running
  {
    id: 'P-1.1',
    text: 'A live rail starts only with a whole and right identity at the bank; every missing or wrong field is named.',
  },
  { id: 'P-1.2', text: "The sandbox's identity never stands in for a live one." },
  {
    id: 'P-1.3',
    text: 'A live account sends by RTP where the identity lists its bank as one that our sponsor may debit at once.',
  },
  // Conventions
  {
    id: 'P-2.1',
    text: 'Objects are snake_case JSON with UTC times in milliseconds and ids that begin with their prefix and ascend.',
  },
  {
    id: 'P-2.2',
    text: 'Amounts are integers of minor units from 1 to 9,999,999,999; a larger one is amount_too_large.',
  },
  {
    id: 'P-2.3',
    text: 'A currency is taken in any letter case and repeated as spelled; another one than USD is refused.',
  },
  {
    id: 'P-2.4',
    text: 'A list is an object with data and next_cursor, newest first; following the cursor visits every item once.',
  },
  {
    id: 'P-2.5',
    text: 'A limit outside 1 to 100, an unknown parameter or a made-up cursor is a 400 that names the parameter.',
  },
  {
    id: 'P-2.6',
    text: 'Every refusal is problem+json whose request_id equals the x-request-id header, which every response has.',
  },
  {
    id: 'P-2.7',
    text: 'All bad fields of a body are named at once by JSON pointer; missing and unknown fields by their own.',
  },
  { id: 'P-2.8', text: 'Broken JSON is 400, JSON that does not fit is 422 invalid_request.' },
  {
    id: 'P-2.9',
    text: 'A method that an address does not take is 405 with Allow; an unknown address is 404.',
  },
  { id: 'P-2.10', text: 'A body over 64 KiB is 413, one that is not JSON is 415.' },
  {
    id: 'P-2.11',
    text: "Another organisation's or the other mode's object is 404 in the same words as one that never was.",
  },
  { id: 'P-2.12', text: 'Every code in a response is in the one registry, which the page of errors shows.' },

  // Keys and modes
  {
    id: 'P-3.1',
    text: 'Keys begin with sk_test_ or sk_live_, carry 256 random bits, are stored as a hash and shown once.',
  },
  { id: 'P-3.2', text: 'The key decides organisation and mode; test and live data never meet.' },
  {
    id: 'P-3.3',
    text: 'The published sandbox token works where the sandbox is on, in an organisation of its own, in test mode only.',
  },
  {
    id: 'P-3.4',
    text: 'No key, an unknown one, an expired one and a revoked one are 401 with WWW-Authenticate.',
  },
  {
    id: 'P-3.5',
    text: 'A key has every scope unless it is made restricted; what it lacks is 403 insufficient_scope.',
  },
  {
    id: 'P-3.6',
    text: 'A revoked key stops working in every process within a second, also while a process is cut off from announcements.',
  },
  { id: 'P-3.7', text: 'A rolled key works on for the overlap and not longer, its successor works at once.' },
  { id: 'P-3.8', text: 'The operator makes organisations and keys, rolls and revokes them.' },
  { id: 'P-3.9', text: "The operator's endpoints are 401 without a token and 403 with any other key." },
  {
    id: 'P-3.10',
    text: 'Requests per key and second are limited by mode, with bursts of twice that, over all processes; beyond it 429 with Retry-After and RateLimit.',
  },
  {
    id: 'P-3.12',
    text: 'Live and test requests have connections and queues of their own: neither mode delays the other by using up what it has.',
  },
  { id: 'P-3.11', text: 'A rate of 0 switches the limit off.' },

  // People
  {
    id: 'P-3.13',
    text: 'Sign-up with e-mail and password makes a person, an organisation with its owner, and a session in an HttpOnly cookie.',
  },
  {
    id: 'P-3.14',
    text: 'An e-mail address, compared without case, makes one account, however many ask at once.',
  },
  { id: 'P-3.15', text: 'Neither login nor a forgotten password tells whether an account exists.' },
  {
    id: 'P-3.16',
    text: 'Ten failed logins close an account for fifteen minutes, in all processes together: 429 with Retry-After.',
  },
  { id: 'P-3.17', text: 'A session that ends has ended in every process.' },
  {
    id: 'P-3.18',
    text: 'An address is verified by a link that works once; until then nothing else is mailed to it, and no mail holds text that somebody chose.',
  },
  { id: 'P-3.19', text: 'A forgotten password is reset by a link that works once; it ends all sessions.' },
  {
    id: 'P-3.20',
    text: 'The session cookie works where a key does, in the mode of Payments-Mode; a call from another site is 403 csrf.',
  },
  {
    id: 'P-3.21',
    text: 'A person changes nothing in live mode before the operator has approved the organisation.',
  },
  {
    id: 'P-3.22',
    text: 'A page that shows another organisation than the session looks at is told so and changes nothing.',
  },
  {
    id: 'P-3.23',
    text: 'Members are invited by a mail that names nobody; its link works once, for seven days, and for the address that it went to.',
  },
  {
    id: 'P-3.24',
    text: 'A person may be in several organisations; a session looks at one of them and switches.',
  },
  {
    id: 'P-3.25',
    text: 'Only a verified owner invites; an invitation that was taken back or replaced no longer works.',
  },
  {
    id: 'P-3.26',
    text: 'Viewers read and write nothing, developers also write and have keys, owners also manage members: at every endpoint.',
  },
  { id: 'P-3.27', text: 'A changed role and a removed member hold for the next request in every process.' },
  { id: 'P-3.28', text: 'An organisation keeps at least one owner, whatever happens at once.' },
  {
    id: 'P-3.29',
    text: 'People make, restrict, roll and revoke keys of the mode they look at; a key makes none.',
  },
  {
    id: 'P-3.30',
    text: 'Live access is asked for by a verified owner and decided by the operator; without it no live key is made. Organisations of the operator have it.',
  },
  {
    id: 'P-3.31',
    text: "The operator's token, and nothing else, lets a person with a verified address act as the operator.",
  },
  { id: 'P-3.32', text: 'Sessions are listed and ended; a new password ends all others.' },
  {
    id: 'P-3.33',
    text: 'A passkey of a verified person logs in alone, once per question, in the browser that asked, for our own origin.',
  },
  {
    id: 'P-3.34',
    text: 'A person may demand a passkey beside the password; then the password alone starts no session.',
  },
  {
    id: 'P-3.35',
    text: 'What people do is kept, refusals too, and shown to the owners of the organisation.',
  },
  {
    id: 'P-3.36',
    text: 'Adding and removing passkeys, and demanding one, take the password beside the session, within the limits of the log-in.',
  },
  {
    id: 'P-3.37',
    text: 'With the admin token the passkeys of a person are removed, and a password alone lets the person in again.',
  },

  // Payments
  {
    id: 'P-4.1',
    text: 'Creating a payment answers 202 with the payment, pending, with the first timeline entry.',
  },
  { id: 'P-4.2', text: 'The payment has every documented field.' },
  { id: 'P-4.3', text: 'A payment needs an Idempotency-Key: without one 400 idempotency_key_required.' },
  {
    id: 'P-4.4',
    text: 'The same key and body give the first response byte for byte, marked as replayed, whatever the order of the fields.',
  },
  { id: 'P-4.5', text: 'The same key with another body is 422 idempotency_key_reused.' },
  {
    id: 'P-4.6',
    text: 'A hundred parallel posts of one key, over two processes, make one payment and a hundred equal bodies.',
  },
  { id: 'P-4.7', text: 'Keys are scoped to organisation, mode and path; refused requests are not stored.' },
  {
    id: 'P-4.8',
    text: 'Payments are listed by status, rail, payment method, time and metadata, and exported as a stream of CSV.',
  },
  { id: 'P-4.9', text: 'A pending payment can be canceled, any other is 409 payment_not_cancelable.' },
  { id: 'P-4.10', text: 'A quote is the decision without a payment.' },
  {
    id: 'P-4.11',
    text: 'Only the moves of the state table happen, each with a timeline entry, an event and its ledger entries.',
  },
  {
    id: 'P-4.12',
    text: 'An explicit rail that is not possible, and auto without any, are 422 rail_not_available with the reasons.',
  },
  {
    id: 'P-4.13',
    text: 'auto chooses by speed, by cost, or balanced, and rail_decision explains the choice.',
  },
  {
    id: 'P-4.14',
    text: 'A definite refusal by RTP that may not hold on ACH reroutes an auto payment with fallback; an unknown outcome never does.',
  },
  { id: 'P-4.15', text: 'Live payments without a configured rail are 503 rail_not_configured.' },

  // Payment methods
  {
    id: 'P-4.20',
    text: 'A bank account is stored with its number sealed and shown by last4; equal accounts share a fingerprint.',
  },
  {
    id: 'P-4.21',
    text: 'A routing number with a wrong checksum is refused by its pointer, together with every other bad field.',
  },
  { id: 'P-4.22', text: 'The directory decides on which rails an account sends and receives.' },
  { id: 'P-4.23', text: 'A balance opens empty and shows what is posted, pending, available and owed.' },
  { id: 'P-4.24', text: 'Payment methods are read, listed newest first and filtered.' },
  {
    id: 'P-4.25',
    text: 'A payment method is deleted unless payments are open; a deleted one stays deleted.',
  },
  {
    id: 'P-4.26',
    text: 'In test mode an id that begins with pm_ and is not stored becomes a test account at its first use in a payment or quote.',
  },
  { id: 'P-4.27', text: 'In live mode an unknown payment method is 422 payment_method_not_found.' },
  { id: 'P-4.28', text: 'A balance is never overdrawn, however many payments run in parallel.' },

  {
    id: 'P-4.29',
    text: 'A payment method is deleted or a payment with it accepted, never both, and no request fails because others come at the same moment.',
  },

  // Refunds
  {
    id: 'P-4.30',
    text: 'A refund is a payment the other way on the best rail, answered with 202, with refund_of; the first shows refunded_amount.',
  },
  {
    id: 'P-4.31',
    text: 'Only a completed payment that is no refund itself is refunded; any other is 409 payment_not_refundable.',
  },
  {
    id: 'P-4.32',
    text: 'All refunds that did not fail add up to at most the amount, however many arrive at once over several processes: 422 refund_exceeds_payment.',
  },
  {
    id: 'P-4.33',
    text: 'A refund needs an Idempotency-Key; a repeat gets the first answer again.',
  },
  {
    id: 'P-4.34',
    text: 'When a completed payment is returned, its refunds that have not left are canceled.',
  },

  // Rails
  {
    id: 'P-5.1',
    text: 'An answer that the RTP gateway delivers by itself is stored with 202 and decides its payment once, in any order with asking.',
  },
  {
    id: 'P-5.2',
    text: 'The gateway needs its token (401); what is no message of the network is 400, what is too large 413.',
  },
  {
    id: 'P-5.3',
    text: 'A delivered message that fits no payment or contradicts one goes to quarantine alone.',
  },
  {
    id: 'P-5.11',
    text: 'The credit leaves, and a balance has the money, when the debit is good: settled, and its banking days of hold over.',
  },
  {
    id: 'P-5.12',
    text: 'A return before that stops the credit, so failed means that nobody was paid; a later one is returned, and what is missing is owed.',
  },
  {
    id: 'P-5.13',
    text: 'What a bank sends is read leniently, entry by entry; one that does not match is put aside alone, with its reason and its text.',
  },
  {
    id: 'P-5.14',
    text: 'Whatever is killed between a file and the ledger: nothing happens twice, nothing is lost.',
  },
  { id: 'P-5.15', text: 'What was put aside is applied to a payment or dismissed by the operator, once.' },
  {
    id: 'P-5.16',
    text: 'Files that left are listed; of one that the bank refuses no payment settles: its entries leave in the next file, or fail.',
  },
  { id: 'P-5.17', text: 'A return after its deadline is applied and flagged as untimely.' },
  {
    id: 'P-5.18',
    text: 'A debit that came back for want of money within its hold is presented again where asked for, and its hold counts anew.',
  },
  {
    id: 'P-5.19',
    text: 'The limits of a bank’s day (files, sums, traces) split or delay what leaves, with an alert, and never make a wrong file.',
  },

  // Ledger
  { id: 'P-6.1', text: 'Entries are double, append-only and sum to zero, which the database enforces.' },
  { id: 'P-6.2', text: 'Accounts and entries show pending and posted amounts apart.' },
  {
    id: 'P-6.3',
    text: 'The check proves sums, balances and that the entries of every payment match its state.',
  },

  {
    id: 'P-6.4',
    text: 'At completion a fee is booked between fees_owed and fee_revenue, and shown by month and rail; refunds and returns give none back.',
  },
  { id: 'P-6.5', text: 'The entries of one account are listed page by page, each once, to the last.' },
  {
    id: 'P-6.6',
    text: 'Every day whose outcomes can still change is compared each day; differences are kept with when they were first seen and went away, and are reported by the log, a metric and the operator’s list.',
  },

  // Sandbox
  {
    id: 'P-7.1',
    text: "The clock freezes and moves the organisation's time, and only forward; deleting it lets time run on, and ACH is fast again, also for what waits for a window.",
  },
  {
    id: 'P-7.2',
    text: 'Forced outcomes settle, reject, return and notify of change; a move that the state forbids is 409.',
  },
  { id: 'P-7.3', text: 'Balances are funded with test money.' },
  {
    id: 'P-7.4',
    text: 'Test ids behave as named: no RTP, rejected, timed out, returned, returned late, changed.',
  },
  { id: 'P-7.5', text: 'Everything under the sandbox is 403 for live keys.' },

  {
    id: 'P-7.6',
    text: 'A reset begins test mode anew at once and in every process: only keys and webhook endpoints stay, and the first request works again.',
  },
  {
    id: 'P-7.7',
    text: 'What a reset left behind is removed later in bounded turns; nothing else of the ledger can be removed.',
  },
  {
    id: 'P-7.8',
    text: 'The clock is at most ten years ahead of real time: clock_too_far; an earlier time is clock_backwards.',
  },

  // Webhooks and events
  {
    id: 'P-8.1',
    text: 'An endpoint is made with a secret that is shown once, and is read, listed, changed and deleted.',
  },
  {
    id: 'P-8.2',
    text: 'A webhook carries the Standard Webhooks headers; its signature verifies, its id is the event.',
  },
  {
    id: 'P-8.3',
    text: 'The body has id, type, timestamp, mode and data, and data is the object as the API showed it then.',
  },
  { id: 'P-8.4', text: 'After a rotation both secrets sign for 24 hours, then the new one alone.' },
  {
    id: 'P-8.5',
    text: 'An endpoint hears of the types it asked for, all by default; several endpoints each get their own.',
  },
  { id: 'P-8.6', text: 'A test event goes to the endpoint it is asked for and to no other.' },
  {
    id: 'P-8.7',
    text: 'A failure is tried again on the schedule with the same webhook-id; Retry-After is honoured; redirects and time-outs are failures.',
  },
  { id: 'P-8.8', text: 'Deliveries are listed with their attempts, and one can be tried again by hand.' },
  {
    id: 'P-8.9',
    text: '410 disables the endpoint, and so do days of failures only; the other endpoints hear of it.',
  },
  { id: 'P-8.10', text: 'A slow endpoint delays no other.' },
  {
    id: 'P-8.11',
    text: 'Private, loopback, link-local, metadata and reserved addresses are refused at registration and at connect.',
  },
  { id: 'P-8.12', text: 'Every event is listed and read for 90 days, and filtered by type and object.' },
  { id: 'P-8.13', text: 'Deliveries survive a process that stops half-way: at least once.' },

  {
    id: 'P-8.14',
    text: 'The stream of events tells of every event of the tenant as it happens, with its id, in every process.',
  },
  {
    id: 'P-8.15',
    text: 'A stream is resumed by Last-Event-ID for 24 hours: nothing is lost and nothing told twice, also over a restart.',
  },
  {
    id: 'P-8.16',
    text: 'Streams per key are bounded, and end with their key, their test mode and their process.',
  },

  // Reference
  {
    id: 'P-9.1',
    text: '/openapi.json is 3.1 and complete: a name, a text and examples for every operation, one schema per noun.',
  },
  { id: 'P-9.2', text: 'Clients that are generated from the document type-check and work.' },
  { id: 'P-9.3', text: 'The examples of the document work as pasted, with the token of the sandbox.' },
  {
    id: 'P-9.4',
    text: 'Every guide under /docs is right from its first block to its last, in curl, Node and Python.',
  },
  {
    id: 'P-9.5',
    text: "The reference's code for every operation works as pasted, in curl, Node and Python.",
  },
  { id: 'P-9.6', text: 'The type of every error leads to its own place on the page of errors.' },
  {
    id: 'P-9.7',
    text: 'The pages under /docs can be used by everybody, by keyboard, on a phone, without a network.',
  },
  // Dashboard
  {
    id: 'P-9.12',
    text: 'The overview counts every payment of a time once, by state, rail and day, and costs the same however many there are.',
  },
  {
    id: 'P-9.13',
    text: 'Every page of the dashboard has one h1, keeps nobody from using it (light, dark, desktop, phone), and asks nothing of another address.',
  },
  { id: 'P-9.14', text: "Another organisation's ids are not found on any page of the dashboard." },
  {
    id: 'P-9.15',
    text: 'Test and live mode of the dashboard have addresses and words of their own, and share nothing.',
  },
  {
    id: 'P-9.16',
    text: 'A person signs up, verifies the address, pays, follows the payment, and makes and revokes keys in the dashboard.',
  },
  {
    id: 'P-9.17',
    text: 'Calls of the last days are found with their bodies, without account numbers, names and secrets; what is left out is counted.',
  },
  {
    id: 'P-9.18',
    text: 'Lost answers, a restart, a role taken away and another tab are said where somebody works; nothing is sent twice or to the wrong organisation.',
  },

  // Details
  {
    id: 'P-10.1',
    text: 'Success codes: 201 for creates, 200 for changes, 202 for test and retry, 204 for deletions.',
  },
  {
    id: 'P-10.2',
    text: 'A quoted and a bare idempotency key are the same; a bad one is 400 idempotency_key_invalid; quotes do not count towards 255.',
  },
  {
    id: 'P-10.3',
    text: 'Other POSTs honour the idempotency key where it is sent, also in parallel and after refusals.',
  },
  { id: 'P-10.4', text: 'Keys are kept for 30 days and events for 90, then they are removed.' },
  { id: 'P-10.5', text: 'Metadata has at most 50 pairs, keys of 40 and values of 500 characters.' },
  { id: 'P-10.6', text: 'An unknown Api-Version is 400; the known one and none are fine.' },
  { id: 'P-10.7', text: 'The source must differ from the destination.' },
  {
    id: 'P-10.8',
    text: 'created_after is inclusive, created_before exclusive; rail filters by the selected rail.',
  },
  { id: 'P-10.9', text: 'Endpoints, deliveries, attempts and events have their documented shape.' },
  { id: 'P-10.10', text: 'Reading an unknown test id is 404 and creates nothing.' },
  { id: 'P-10.11', text: 'A balance with money cannot be deleted.' },
  {
    id: 'P-10.12',
    text: 'Other schemes and user information in an address are refused, http only outside development, names that do not resolve are accepted.',
  },
  { id: 'P-10.13', text: 'A fallback with an explicit rail is refused.' },
  {
    id: 'P-10.14',
    text: 'A notification of change updates the stored payment method and tells subscribers.',
  },
  { id: 'P-10.15', text: 'A frozen clock stamps payments exactly; ids and lists go by real time.' },
  { id: 'P-10.16', text: 'Messages of the rails are listed with their content, for the payment alone.' },
];
