// Looks for secrets in what a run has printed. Logs are read by many and kept for long: no secret belongs there.

/** Kinds of secrets, by what their text looks like. The published sandbox key and what was redacted are none. */
const kinds = [
  ['an API key', /\bsk_(?:test|live)_(?!sandbox\b)[A-Za-z0-9]{16,}/],
  ['a webhook secret', /\bwhsec_[A-Za-z0-9+/=]{20,}/],
  ['a token of Toolhub', /\bth[aioprs]_[A-Za-z0-9_-]{24,}/],
  ['an admin token', /\badmin_[A-Za-z0-9_-]{24,}/],
  ['a private key', /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/],
  ['a Bearer token', /\bBearer (?!\[redacted\])[A-Za-z0-9._~+/-]{20,}/i],
  ['a password in a URL', /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@:"']+:(?!\[redacted\])[^\s/@"']{4,}@/i],
  ['a JSON web token', /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/],
  [
    'a secret field',
    /"(?:password|passwd|secret|api_?key|access_token|refresh_token|client_secret|account_number|bot_token)":"(?!\[redacted\])[^"]{6,}"/i,
  ],
];

const SHOWN_CHARACTERS = 12;
const FINDINGS_MAX = 20;

/**
 * Every line that holds a secret, with its kind; the secret itself is not repeated.
 * @param {string} text
 * @param {readonly string[]} known further secrets, as they are
 * @returns {{ line: number, kind: string, begins: string }[]}
 */
export function findSecrets(text, known = []) {
  const found = [];
  for (const [index, line] of text.split('\n').entries()) {
    for (const [kind, pattern] of kinds) {
      const match = pattern.exec(line);
      if (match) found.push({ line: index + 1, kind, begins: match[0].slice(0, SHOWN_CHARACTERS) });
    }
    for (const secret of known)
      if (line.includes(secret))
        found.push({ line: index + 1, kind: 'a known secret', begins: secret.slice(0, 4) });
    if (found.length >= FINDINGS_MAX) break;
  }
  return found;
}
