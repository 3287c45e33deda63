import { defineErrors, type ErrorDefinitions } from '@libs/runtime';

/** What getting in can be refused with; a service puts them into its own registry. */
export const loginErrorDefinitions = {
  invalid_credentials: {
    kind: 'unauthenticated',
    title: 'Invalid credentials',
    detail: 'The e-mail address or the password is wrong.',
    help: 'After ten failed tries the account waits for fifteen minutes.',
  },
  wrong_password: {
    kind: 'forbidden',
    title: 'Wrong password',
    detail: 'The password is wrong.',
    help: 'Nothing was changed.',
  },
  link_not_valid: {
    kind: 'refused',
    title: 'Link not valid',
    detail: 'This link was used already, has expired, or never existed; ask for a new one.',
    help: 'A link to verify an address works for 24 hours, one to choose a new password for an hour, each once.',
  },
  email_taken: {
    kind: 'conflict',
    title: 'E-mail address taken',
    detail: 'There is an account with this e-mail address already.',
    help: 'Log in, or choose a new password if it is forgotten.',
  },
  too_many_logins: {
    kind: 'rate_limited',
    title: 'Too many failed logins',
    detail: 'Too many failed logins for this account; wait as long as Retry-After says.',
    help: 'A forgotten password can be changed by mail meanwhile.',
  },
  passkey_required: {
    kind: 'unauthenticated',
    title: 'Passkey required',
    detail: 'The password is right; this account asks for a passkey as well.',
    help: '`options` says what the device is asked. Send its answer within five minutes, from the same browser.',
  },
  passkey_refused: {
    kind: 'unauthenticated',
    title: 'Passkey refused',
    detail: 'This passkey was not accepted; begin anew.',
    help: 'A question to a device is answered once, within five minutes, in the browser that asked.',
  },
  passkey_not_valid: {
    kind: 'refused',
    title: 'Passkey not valid',
    detail: 'The device’s answer does not fit what it was asked; begin anew.',
    help: 'A question is answered once, within five minutes, in the session that asked, and on this site.',
  },
  too_many_passkeys: {
    kind: 'refused',
    title: 'Too many passkeys',
    detail: 'An account can have 20 passkeys; remove one first.',
    help: 'Each device needs one only.',
  },
  busy: {
    kind: 'unavailable',
    title: 'Busy',
    detail: 'Too many logins are being checked; try again.',
    help: 'Wait a second.',
  },
} as const satisfies ErrorDefinitions;

export const loginErrors = defineErrors(loginErrorDefinitions);
