/** What stands where something was taken out. */
export const REDACTED = '[redacted]';

/** Fields whose values are nobody's business here: accounts, names, secrets, and messages that contain them. */
const SECRET_FIELD =
  /acc(oun)?t(?!_id$|_type$)|routing_?n|holder(?!_type$)|iban|card|ssn|tax_|birth|name|mail|phone|address|passw|secret|token|credential|authoriz|cookie|signature|content|api_?key|^key$|^pin$/i;
/** Numbers that may be long without being an account. */
const AMOUNT_FIELD =
  /amount|total|fee|posted|pending|available|owed|score|payments|count|version|_ms$|_seconds$/i;

/** Keys, secrets of webhooks, sessions, and the tokens of mails and invitations, by how they begin. */
const SECRET_TEXT = /\b(?:sk_(?:test|live)|whsec|pss|pml|piv)_[A-Za-z0-9+/=_-]+/g;
const MAIL_ADDRESS = /[^\s@"'<>=&]{1,64}(?:@|%40)[^\s@"'<>&]{1,255}\.[a-z]{2,}/gi;
/** Seven digits or more, which blanks and dashes do not hide; days are none. */
const LONG_NUMBER = /(?<![\w.:-])(?!\d{4}-\d\d-\d\d\b)\d(?:[ -]?\d){6,}(?![\w:-])/g;
const LONG_NUMBER_MIN = 1_000_000;

/** Free text, such as the detail of an error or the query of an address. */
export function redactText(text: string): string {
  return text
    .replaceAll(SECRET_TEXT, REDACTED)
    .replaceAll(MAIL_ADDRESS, REDACTED)
    .replaceAll(LONG_NUMBER, REDACTED);
}

/** The same value without what nobody may read. The names of fields stay, so that one sees what was sent. */
export function redact(value: unknown, field = ''): unknown {
  if (value === null || typeof value === 'boolean') return value;
  // An object is judged by the names of its own fields.
  if (isRecord(value)) {
    const fields = Object.entries(value).map(([name, item]) => [redactText(name), redact(item, name)]);
    return Object.fromEntries(fields);
  }
  if (SECRET_FIELD.test(field)) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => redact(item, field));
  if (typeof value === 'string') return redactText(value);
  return typeof value === 'number' && isHarmless(value, field) ? value : REDACTED;
}

function isHarmless(value: number, field: string): boolean {
  return Math.abs(value) < LONG_NUMBER_MIN || AMOUNT_FIELD.test(field);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
