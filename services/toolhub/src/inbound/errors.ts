import { defineErrors, type ErrorDefinitions } from '@libs/http';

export const inboundErrorDefinitions = {
  invalid_signature: {
    kind: 'unauthenticated',
    title: 'Invalid signature',
    detail: 'X-Hub-Signature-256 is missing or does not fit the body.',
    help: 'The header is sha256= and the HMAC-SHA256 of the very bytes of the body, keyed with the app secret.',
  },
  verification_failed: {
    kind: 'forbidden',
    title: 'Verification failed',
    detail: 'The subscription check carries another verify token.',
  },
  phone_number_taken: {
    kind: 'conflict',
    title: 'Phone number taken',
    detail: 'This phone number belongs to another account.',
  },
} as const satisfies ErrorDefinitions;

export const inboundErrors = defineErrors(inboundErrorDefinitions);
