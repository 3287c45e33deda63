import type { ClientSchema } from 'oidc-provider';

/** The library wants one; no ID token is ever issued. */
export const ID_TOKEN_ALGORITHM = 'ES256';

/** What is registered of a client that does not say. */
export const CLIENT_DEFAULTS = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  id_token_signed_response_alg: ID_TOKEN_ALGORITHM,
} as const;
const OTHER_DEFAULTS = { application_type: 'web', token_endpoint_auth_method: 'client_secret_basic' };

/**
 * Clients are written for many servers: what is not about this one is replaced, as RFC 7591 lets a server do and the answer tells,
 * since the library refuses the whole client for it.
 */
export function leaveOutForeign(metadata: ClientSchema): void {
  leaveOutEmpty(metadata as unknown as Record<string, unknown>);
  leaveOutIdTokens(metadata);
  for (const name of ['grant_types', 'response_types'] as const) {
    const offered = keepOffered(metadata[name], CLIENT_DEFAULTS[name]);
    if (offered !== undefined) metadata[name] = offered;
  }
}

/** An empty text or a null says as much as nothing. */
function leaveOutEmpty(metadata: Record<string, unknown>): void {
  const defaults: Record<string, unknown> = { ...CLIENT_DEFAULTS, ...OTHER_DEFAULTS };
  for (const [name, value] of Object.entries(metadata)) {
    if (value !== null && value !== '') continue;
    if (Object.hasOwn(defaults, name)) metadata[name] = structuredClone(defaults[name]);
    else delete metadata[name];
  }
}

/** It would have the library ask for `openid` with every request, which grants nothing here, or for a signature that nobody makes. */
function leaveOutIdTokens(metadata: ClientSchema): void {
  delete metadata.default_acr_values;
  delete metadata.default_max_age;
  delete metadata.require_auth_time;
  delete metadata.sector_identifier_uri;
  metadata.id_token_signed_response_alg = ID_TOKEN_ALGORITHM;
  metadata.subject_type = 'public';
}

/** Undefined where it is no list, or nothing of it is offered here: that the library refuses. */
function keepOffered(wanted: unknown, offered: readonly string[]): string[] | undefined {
  if (!Array.isArray(wanted)) return undefined;
  const kept = offered.filter((value) => wanted.includes(value));
  return kept.length > 0 ? kept : undefined;
}
