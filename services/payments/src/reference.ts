// What the reference tells of the rules of routes: why they refuse, and what they read from requests.
import type { DecidedRoute, Parameter } from '@libs/http';
import { apiVersions } from './api-version.ts';
import type { errors } from './errors.ts';
import type { RouteAccess, RouteRate } from './keys/access.ts';

export type ErrorCode = keyof (typeof errors)['definitions'] & string;
type Decided = DecidedRoute<RouteAccess, RouteRate>;

/** Why a request is refused before the work begins. */
export function refusalsOf({ access, rate, idempotency, method }: Decided): ErrorCode[] {
  const codes = accessRefusals(access);
  // What changes something and comes with a cookie must come from our own pages.
  if (method !== 'GET' && access !== 'public' && access !== 'admin_token') codes.push('csrf');
  if (rate !== 'none') codes.push('rate_limited');
  if (idempotency === 'keyed' || idempotency === 'keyed_by_handler')
    codes.push('idempotency_key_invalid', 'idempotency_key_reused', 'overloaded');
  if (idempotency === 'keyed_by_handler') codes.push('idempotency_key_required', 'idempotency_key_in_use');
  return codes;
}

function accessRefusals(access: RouteAccess): ErrorCode[] {
  const ofMembers = [
    'organisation_switched',
    'no_organisation',
    'invalid_header',
    'insufficient_role',
  ] as const;
  switch (access) {
    case 'public':
    case 'visitor':
      return [];
    case 'operator':
    case 'admin_token':
      return ['unauthorized', 'forbidden'];
    case 'person':
      return ['unauthorized', 'person_required', 'overloaded'];
    case 'owner':
    case 'developer':
    case 'viewer':
      return ['unauthorized', 'person_required', 'overloaded', ...ofMembers];
  }
  const codes: ErrorCode[] = ['unauthorized', 'insufficient_scope', 'overloaded', ...ofMembers];
  if (access.startsWith('test:')) codes.push('wrong_mode');
  if (access.endsWith(':write')) codes.push('live_access_required');
  return codes;
}

/** By their names in `sharedParameters`. */
export function parametersOf({ idempotency }: Decided): string[] {
  const names = ['ApiVersion'];
  if (idempotency === 'keyed') names.push('IdempotencyKey');
  if (idempotency === 'keyed_by_handler') names.push('RequiredIdempotencyKey');
  return names;
}

const aboutKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A string of your own, new for each thing you want done: 1 to 255 printable ASCII characters, bare or in double quotes. A repeat with the same key and body gets the first answer again and does nothing. Kept for 30 days.',
  schema: { type: 'string', minLength: 1, maxLength: 257 },
  example: 'order-1042',
} as const satisfies Parameter;

export const sharedParameters: Record<string, Parameter> = {
  ApiVersion: {
    name: 'Api-Version',
    in: 'header',
    required: false,
    description: 'Pins a dated version of the API. Left out: the newest.',
    schema: { type: 'string', enum: [...apiVersions] },
  },
  IdempotencyKey: { ...aboutKey, required: false },
  RequiredIdempotencyKey: { ...aboutKey, required: true },
};

/** What problems of some codes tell beside the standard members. */
export const problemMembers = {
  required_scope: { type: 'string', description: 'Of `insufficient_scope`: the scope that is missing.' },
  required_role: { type: 'string', description: 'Of `insufficient_role`: the role that is needed.' },
  options: {
    type: 'object',
    description: 'Of `passkey_required`: what the device is asked (WebAuthn, as JSON).',
  },
  supported_versions: {
    type: 'array',
    items: { type: 'string' },
    description: 'Of `unsupported_api_version`.',
  },
  candidates: {
    type: 'array',
    items: { $ref: '#/components/schemas/RailCandidate' },
    description: 'Of `rail_not_available`: every rail, with the reasons why it cannot.',
  },
  available: { type: 'integer', description: 'Of `insufficient_funds`: what the balance could pay.' },
  refundable_amount: { type: 'integer', description: 'Of `refund_exceeds_payment`: what is left.' },
  payment_status: { type: 'string', description: 'The state of the payment, where it is the reason.' },
  current: { type: 'string', format: 'date-time', description: 'Of `clock_backwards`: where the clock is.' },
  latest: { type: 'string', format: 'date-time', description: 'Of `clock_too_far`: how far it may go.' },
};
