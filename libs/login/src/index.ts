export { loginErrorDefinitions, loginErrors } from './errors.ts';
export { createLogin, type Login } from './login.ts';
export type { MailTokenKind } from './mail-token.ts';
export { loginMigrations } from './migrations.ts';
export { type ChallengeKind, type Passkey, relyingPartyOf } from './passkey.ts';
export type { PasskeyAnswer, PasskeyQuestion } from './passkeys.ts';
export {
  EMAIL_CHARACTERS_MAX,
  EMAIL_MISMATCH,
  EMAIL_PATTERN,
  emailKey,
  emailKeys,
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
  type People,
} from './person.ts';
export { SESSION_DAYS, type Session, type SessionOrigin } from './session.ts';
