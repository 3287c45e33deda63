import type { Target } from './fuzz.ts';
import { answers } from './targets/answers.ts';
import { iso20022, nacha } from './targets/banks.ts';
import { html, imap, mime, smtp } from './targets/mail.ts';
import { arrivals, whatsapp } from './targets/platforms.ts';
import { headers, json, jsonRpc, redirects, signatures } from './targets/requests.ts';

/** Every parser of what strangers send. */
export const targets: readonly Target[] = [
  json,
  jsonRpc,
  mime,
  html,
  nacha,
  iso20022,
  redirects,
  signatures,
  imap,
  smtp,
  whatsapp,
  arrivals,
  headers,
  answers,
];
