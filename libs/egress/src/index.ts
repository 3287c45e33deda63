export {
  AnswerRefused,
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  StatusRefused,
} from './http-client.ts';
export {
  IMAP_LIMITS,
  ImapLimitExceeded,
  ImapLimiter,
  type ImapLimits,
  type SkippableAnswer,
} from './imap-limiter.ts';
export { allowProblems, createEgressPolicy, type EgressPolicy, type EgressPolicyOptions } from './policy.ts';
export {
  createPoster,
  type PostAnswer,
  type Poster,
  type Posting,
  type PostRequest,
} from './posting/poster.ts';
export { EgressRefused, EgressUnresolved, type Refusal, type RefusalReason } from './refusal.ts';
export { type GuardedAddress, type GuardedPlace, resolveGuarded, resolvePlain } from './resolve.ts';
export { retryAfterMs } from './retry-after.ts';
export { SMTP_LIMITS, SmtpLimitExceeded, SmtpLimiter, type SmtpLimits } from './smtp-limiter.ts';
export { type OpenedSocket, type OpenSocketOptions, openSocket } from './socket.ts';
export type { ResolvedAddress, ResolveHost } from './system-resolver.ts';
export { checkUrl, checkUrlResolved, type UrlCheck } from './url.ts';
