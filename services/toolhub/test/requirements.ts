/**
 * One rule that the product keeps. Tests cite it by its id in square brackets, in their title; a title with a section
 * alone (`[TH-4]`) belongs to it without being the proof of one rule.
 */
export interface Requirement {
  id: `TH-${number}.${number}`;
  text: string;
  /** Why no test shows it yet. */
  deferred?: string;
}

export const requirements: readonly Requirement[] = [
  // Running
  { id: 'TH-1.1', text: 'Without settings the documented defaults hold.' },
  {
    id: 'TH-1.2',
    text: 'Bad or missing settings stop the start with one message that names every one of them and repeats no value.',
  },
  {
    id: 'TH-1.3',
    text: 'Secrets that are not given are made once under DATA_DIR, readable by this user alone.',
  },
  { id: 'TH-1.4', text: 'Internal accounts come from a JSON file that is checked at the start.' },
  {
    id: 'TH-1.5',
    text: 'Alone it starts its own database, prints the admin token in development only, and drains on SIGTERM.',
  },
  { id: 'TH-1.6', text: 'Sign-ups, registrations and logins share a limit per network address.' },
  // Conventions
  { id: 'TH-2.1', text: 'Lists are {data,next_cursor} with limit and cursor.' },
  { id: 'TH-2.2', text: 'Errors are problem+json from one registry, with every bad field by its pointer.' },
  { id: 'TH-2.3', text: 'OAuth endpoints use the error body of OAuth.' },
  { id: 'TH-2.4', text: 'What belongs to another customer is 404 or absent, at every endpoint.' },
  { id: 'TH-2.5', text: 'Endpoints of a customer answer 401 without a caller.' },
  // Accounts and tokens
  {
    id: 'TH-3.1',
    text: 'Sign-up answers 201 with the customer and a session cookie: HttpOnly, SameSite=Lax, Secure on https.',
  },
  { id: 'TH-3.2', text: 'A logout ends the session in every process.' },
  { id: 'TH-3.3', text: 'The answer to a failed login does not tell whether an account exists.' },
  { id: 'TH-3.4', text: 'Passwords are argon2id and at least 10 characters long.' },
  {
    id: 'TH-3.5',
    text: 'A personal token is shown once and stored hashed.',
  },
  {
    id: 'TH-3.6',
    text: 'A token is cached for at most 60 s, and a revoked one stops in every process within 1 s.',
  },
  { id: 'TH-3.7', text: 'A code lives 60 s, an access token 1 h, a refresh token 30 d.' },
  { id: 'TH-3.8', text: 'Refresh tokens rotate; reuse of an old one revokes the family.' },
  {
    id: 'TH-3.9',
    text: 'Addresses are verified and passwords reset by links that work once; sessions are listed and ended; the name changes.',
  },
  {
    id: 'TH-3.10',
    text: 'To an address that is not verified nothing is mailed but a verification and a reset; mail holds no text that a stranger chose.',
  },
  { id: 'TH-3.11', text: 'A closed account leaves nothing but its invoices.' },
  { id: 'TH-3.12', text: 'Only a person, by the cookie, makes personal tokens.' },
  {
    id: 'TH-3.13',
    text: 'A passkey of a verified customer logs in instead of the password: once per question, in the browser that asked.',
  },
  // OAuth server
  {
    id: 'TH-4.1',
    text: 'Metadata of the server and of the protected resource stand at their addresses and name the public ones.',
  },
  {
    id: 'TH-4.2',
    text: 'Clients register by RFC 7591, or by a metadata document that is fetched behind the guard.',
  },
  { id: 'TH-4.3', text: 'PKCE with S256 is required.' },
  { id: 'TH-4.4', text: 'resource is honoured (RFC 8707) and iss is in the response (RFC 9207).' },
  {
    id: 'TH-4.5',
    text: 'Consent names the client, the host and the scopes; without a session it leads to the login page and back.',
  },
  {
    id: 'TH-4.6',
    text: 'Of twenty parallel exchanges of one code, over two processes, one gives a token; a reuse revokes what it gave.',
  },
  {
    id: 'TH-4.7',
    text: 'Redirect addresses of the own client fit its patterns exactly; those of others match as registered, the loopback port aside.',
  },
  { id: 'TH-4.8', text: 'The own client is written anew at every start.' },
  { id: 'TH-4.9', text: 'Personal tokens have tools:read tools:write account:read unless made otherwise.' },
  {
    id: 'TH-4.10',
    text: 'connect-mcp leads into the flow with a verifier and state that stay on the server.',
  },
  {
    id: 'TH-4.11',
    text: 'mcp-callback shows four snippets; a failed exchange is a clear page with 400; the page is never cached.',
  },
  { id: 'TH-4.12', text: 'Codes and tokens are nowhere in the database as they were given out.' },
  {
    id: 'TH-4.13',
    text: 'A resource that is not ours is refused before anything is consumed; /mcp and /mcp/ are one resource.',
  },
  {
    id: 'TH-4.14',
    text: 'A faulty authorization request leads to no client that nobody has let in: a page says what is wrong.',
  },
  {
    id: 'TH-4.15',
    text: 'Clients registered for refresh_token get one without offline_access; 401 and metadata advertise the three scopes.',
  },
  {
    id: 'TH-4.16',
    text: 'Nothing is stored for strangers who open /oauth/authorize, and /oauth/connect-mcp is limited.',
  },
  {
    id: 'TH-4.17',
    text: 'A token that only sees the account (account:read) is shown no messages: neither what waits nor what was delivered.',
  },
  // MCP endpoint
  { id: 'TH-5.1', text: 'Both protocol eras are served from one address with the official SDK.' },
  {
    id: 'TH-5.2',
    text: 'Without a valid token: 401 with the way to one; too small a scope: 403 insufficient_scope.',
  },
  { id: 'TH-5.3', text: 'Host and Origin are checked.' },
  {
    id: 'TH-5.4',
    text: 'A customer sees no account parameter: a deep copy is filtered, the original stays as it was.',
  },
  { id: 'TH-5.5', text: 'An internal session chooses among the configured accounts of a platform.' },
  { id: 'TH-5.6', text: 'The list of tools is stable, prebuilt and shared.' },
  { id: 'TH-5.7', text: 'Business failures are results with isError and a code of the contract.' },
  { id: 'TH-5.8', text: '?platforms= narrows the list; an unknown name is 400; accounts_* always stay.' },
  {
    id: 'TH-5.9',
    text: 'The same idempotency_key within 24 h returns the first result and sends nothing twice.',
  },
  { id: 'TH-5.10', text: 'A call that is stopped anywhere reaches no platform.' },
  // Platforms and credentials
  { id: 'TH-6.1', text: 'A platform is one folder with one definition; adding one touches the list alone.' },
  {
    id: 'TH-6.2',
    text: 'PUT checks the credential at the platform unless told not to, stores it sealed and answers without a secret.',
  },
  { id: 'TH-6.3', text: 'A sealed row that was moved to another customer or platform does not open.' },
  { id: 'TH-6.4', text: 'Addresses that a customer chooses pass the guard: 422 address_refused.' },
  {
    id: 'TH-6.5',
    text: 'Refresh is single-flight over all processes, and the new pair is stored before it is used.',
  },
  {
    id: 'TH-6.6',
    text: 'A refused refresh marks the credential expired and tells once; recovery is told, too.',
  },
  { id: 'TH-6.7', text: 'Platforms with OAuth are connected in the browser.' },
  { id: 'TH-6.8', text: 'Every platform and tool of the catalogue is there, with its class.' },
  {
    id: 'TH-6.9',
    text: 'A login at a vendor asks for the scopes of the switched-on tools; an unregistered vendor says what works without.',
  },
  {
    id: 'TH-6.10',
    text: 'At a server that the customer names the service registers itself once, sealed and guarded, and again when forgotten.',
  },
  {
    id: 'TH-6.11',
    text: 'A token that is renewed only while it works is renewed ahead; of one that will end its customer is warned once.',
  },
  {
    id: 'TH-6.12',
    text: 'Arguments that try other hosts, paths, headers or accounts are refused before anything is sent, in every tool.',
  },
  // Billing and invoices
  { id: 'TH-7.1', text: 'Plans are data.' },
  {
    id: 'TH-7.2',
    text: 'At a limit of N, any number of parallel calls over two processes lets exactly N through.',
  },
  {
    id: 'TH-7.3',
    text: 'A unit is given back when the call did nothing; a crash gives it back within the lease.',
  },
  { id: 'TH-7.4', text: 'Tools of no platform are not metered.' },
  { id: 'TH-7.5', text: 'An admin gives a customer another limit, and takes it away.' },
  { id: 'TH-7.6', text: '80 and 100 percent are told once each.' },
  { id: 'TH-7.7', text: 'Usage is counted to the call, by platform, tool and day.' },
  {
    id: 'TH-7.8',
    text: 'Invoices: due at 00:10 UTC on the 1st, under a lock of one hour that its holder alone releases.',
  },
  { id: 'TH-7.9', text: 'A run that dies half-way is resumed, with one invoice and one mail per customer.' },
  {
    id: 'TH-7.10',
    text: 'The lines sum to the total in integer cents, and a change of plan is priced by days.',
  },
  { id: 'TH-7.11', text: 'The invoice comes as a PDF, the same that was mailed.' },
  { id: 'TH-7.12', text: 'A mail that fails is failed_to_send, is tried again, and is then sent.' },
  {
    id: 'TH-7.13',
    text: 'A call of which nobody knows the outcome keeps its unit: hanging up is no way around the limit.',
  },
  {
    id: 'TH-7.14',
    text: 'The result of a key commits with its unit: after kills under load every success is counted.',
  },
  { id: 'TH-7.15', text: 'An admin’s limit never lifts the spend cap: the lower of both holds.' },
  {
    id: 'TH-7.17',
    text: 'What another plan would cost this month is told before it is chosen, as the invoice would count it.',
  },
  {
    id: 'TH-7.18',
    text: 'Invoices name both parties with address and tax id as of their day, and how they are paid.',
  },
  {
    id: 'TH-7.19',
    text: 'Usage of days that are over is added up once; charts read the same to the call, in a time that does not grow with the calls.',
  },
  {
    id: 'TH-7.20',
    text: 'An operator makes and changes plans: limits hold at once, prices, and that calls go on at one, from the next month on, and it is audited.',
  },
  { id: 'TH-7.16', text: 'An invoice waits as open until the address is verified.' },
  { id: 'TH-7.21', text: 'An account that is closed is invoiced for what it owes.' },
  // Webhooks of customers
  { id: 'TH-8.1', text: 'The secret is shown once; a new configuration makes a new one.' },
  {
    id: 'TH-8.2',
    text: 'Refused addresses: private, loopback, link-local, reserved, in every spelling, and names that lead there.',
  },
  {
    id: 'TH-8.3',
    text: 'The guard holds when it dials: the address that was checked is the one that is used; redirects are not followed.',
  },
  { id: 'TH-8.4', text: 'Deliveries are signed by Standard Webhooks under the id of their event.' },
  {
    id: 'TH-8.5',
    text: 'Retries after 1, 4 and 16 seconds, then a dead letter for 7 days that can be replayed.',
  },
  { id: 'TH-8.6', text: 'A kill loses no delivery.' },
  { id: 'TH-8.7', text: "A slow address delays no other customer's." },
  { id: 'TH-8.8', text: 'Dead letters are listed for the customer and for admins, and replayed once.' },
  // Inbound WhatsApp
  { id: 'TH-9.1', text: 'GET answers the subscription check; without its settings the route is 503.' },
  {
    id: 'TH-9.2',
    text: 'The signature is made over the very bytes, which are stored as they came; otherwise 401.',
  },
  { id: 'TH-9.3', text: 'A message becomes one event for the owner of the number, however often it comes.' },
  { id: 'TH-9.4', text: 'What came for an unknown number is kept, and reaches whoever connects it.' },
  { id: 'TH-9.5', text: 'A number belongs to one customer.' },
  {
    id: 'TH-9.6',
    text: 'Slack’s events and Discord’s interactions: signed over the very bytes, kept, answered at once, told once to their accounts.',
  },
  { id: 'TH-9.7', text: 'What a Telegram bot is sent is collected by one process and told once.' },
  {
    id: 'TH-9.8',
    text: 'Where a public address exists, Telegram sends there with a secret; switching loses and doubles nothing.',
  },
  // Health
  {
    id: 'TH-10.1',
    text: 'Health is cached for 10 minutes over all processes, with one probe however many ask.',
  },
  { id: 'TH-10.2', text: "A change of a credential drops the customer's report." },
  { id: 'TH-10.3', text: 'Without a caller: the platforms as such, nothing about any customer.' },
  { id: 'TH-10.4', text: 'In production /metrics answers whoever has its token, and nobody else.' },
  // Dashboard
  {
    id: 'TH-11.10',
    text: 'Rules say which tools wait: those that send, those that delete or overwrite, or single ones; they hold in every process within a second.',
  },
  {
    id: 'TH-11.11',
    text: 'A call that waits answers approval_required with approval_id, approval_url and expires_at, is not metered, reaches no platform, and is audited.',
  },
  {
    id: 'TH-11.12',
    text: 'Only a person allows or denies; waiting calls are listed with exactly what would be sent, to their own customer.',
  },
  {
    id: 'TH-11.13',
    text: 'After it was allowed, the same call with approval_id or the same idempotency_key runs once, over several processes too; any other call does not.',
  },
  {
    id: 'TH-11.14',
    text: 'Allowed for a client, the tool runs for that client without asking, and for no other.',
  },
  { id: 'TH-11.15', text: 'A denied call is refused; one that waited for 24 hours has expired.' },
  {
    id: 'TH-11.17',
    text: 'A client of the newest revision that opens addresses for its user is asked to open the page of a waiting call.',
  },
  { id: 'TH-11.16', text: 'What a waiting call would send is sealed at rest, and goes with its customer.' },
  {
    id: 'TH-11.2',
    text: 'A session lists the tools of connected platforms and accounts_*; the others answer not_connected.',
  },
  {
    id: 'TH-11.3',
    text: '/mcp?mode=search lists accounts_*, tools_search and tools_call, which finds and calls all others by the same ladder.',
  },
  {
    id: 'TH-11.4',
    text: 'Open streams of the newest revision are told when a connection or a switch changes the list.',
  },
  // Audit
  {
    id: 'TH-11.21',
    text: 'The front page leads to an account; its address is verified by the link in the mail.',
  },
  {
    id: 'TH-11.30',
    text: 'A person is told by mail that calls wait, at most once in ten minutes; what nobody decides on is audited as expired.',
  },
  {
    id: 'TH-11.31',
    text: 'A person gets everything of the account in one file, without a secret, in memory that does not grow with it.',
  },
  {
    id: 'TH-11.32',
    text: 'A refused address, a wrong password and a vendor that is down are said where one connects, with what to do.',
  },
  {
    id: 'TH-11.33',
    text: 'A delivery and a dead letter show what was sent and what came back; a dead letter goes out again.',
  },
  {
    id: 'TH-11.34',
    text: 'A change of plan says what it will cost; the PDF of an invoice names both parties and how to pay.',
  },
  { id: 'TH-11.35', text: 'No page shows anything of another customer.' },
  {
    id: 'TH-11.36',
    text: 'The operator’s pages have customers, plans, invoices, dead letters, jobs and platforms, behind the admin token.',
  },
  {
    id: 'TH-11.37',
    text: 'What goes wrong is said at the place with what to do: a lost answer, a restart, another window, a suspension, a dead link; nothing is sent twice.',
  },
  { id: 'TH-11.22', text: 'A connection is made by a form that tries it at the platform first.' },
  { id: 'TH-11.23', text: 'A tool is tried on its page; the call is real, counted and in the overview.' },
  { id: 'TH-11.24', text: 'The secret of a webhook is shown once, with a copy button.' },
  {
    id: 'TH-11.25',
    text: 'A connection whose credential expired has the badge `Token expired` and a way to reconnect.',
  },
  { id: 'TH-11.26', text: 'An assistant is connected through consent to snippets.' },
  {
    id: 'TH-11.27',
    text: 'Every page has one h1, works on a phone, in both colours and for screen readers.',
  },
  { id: 'TH-11.28', text: 'The first load is at most 300 KB of compressed script.' },
  { id: 'TH-11.29', text: 'After a login one comes back to where one was meant to go.' },
  {
    id: 'TH-12.1',
    text: 'Sessions, tokens, consents, credentials, webhooks, plans and calls are audited, newest first.',
  },
  { id: 'TH-12.2', text: 'The audit log never holds a secret.' },
  // Details
  { id: 'TH-13.1', text: 'Pages carry a strict CSP, nosniff, no framing and no referrer.' },
  {
    id: 'TH-13.2',
    text: 'A state-changing call with the cookie from another origin, or not as JSON, is 403 csrf.',
  },
  {
    id: 'TH-13.3',
    text: 'Ten failed logins in 15 minutes close the account to further tries, in every process.',
  },
  { id: 'TH-13.4', text: 'E-mail addresses compare without case.' },
  { id: 'TH-13.5', text: "Admin endpoints: 401 without a token, 403 with a customer's." },
  { id: 'TH-13.6', text: 'Annotations follow the class of a tool: R, W, I, U, D.' },
  {
    id: 'TH-13.7',
    text: 'Unknown tool: -32602; arguments that do not fit: a result with invalid_arguments; GET and DELETE /mcp: 405.',
  },
  { id: 'TH-13.8', text: 'Internal sessions are recorded under internal and not metered.' },
  { id: 'TH-13.9', text: 'Bodies beyond their limit are 413, before they are parsed.' },
  {
    id: 'TH-13.10',
    text: 'Limits of /api per customer (TOOLHUB_RATE_API), and of its costly calls.',
  },
  {
    id: 'TH-13.11',
    text: 'Whatever a route is sent, no answer is 5xx and none takes longer than its bound.',
  },
  { id: 'TH-13.12', text: 'Every route answers under the accepted Host names alone.' },
  { id: 'TH-13.13', text: 'A suspended customer gets no tokens.' },
  { id: 'TH-13.14', text: 'What one customer or stranger sends holds up nobody else.' },
  {
    id: 'TH-13.20',
    text: 'What a mail server or a stranger’s mail sends is bounded before it is parsed, holds up nobody for 100 ms, and ends in an error that names the platform.',
  },
  { id: 'TH-13.21', text: 'One customer holds at most 8 mail connections and a fair share of the rest.' },
];
