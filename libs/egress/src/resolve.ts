import { parseHost, placeOf } from './host.ts';
import { checkHost, type EgressPolicy, findAddressFault, mayUsePlainHttp } from './policy.ts';
import { EgressRefused, EgressUnresolved, type Refusal, refuse } from './refusal.ts';
import type { ResolvedAddress } from './system-resolver.ts';

/** A place that passed the guard: dial `address`, keep `host` as the name that TLS verifies. */
export interface GuardedPlace extends ResolvedAddress {
  /** The canonical host, for TLS server names and Host headers. */
  readonly host: string;
  readonly port: number;
  /** The operator allowed this place to be used without TLS; the rule for plain http holds for every protocol. */
  readonly mayBePlain: boolean;
}

export interface GuardedAddress extends GuardedPlace {
  /** All checked addresses of the host, the first of which is `address`. */
  readonly addresses: readonly [ResolvedAddress, ...ResolvedAddress[]];
}

export type Resolution =
  | { readonly ok: true; readonly resolved: GuardedAddress }
  | { readonly ok: false; readonly unresolved: Error }
  | Refusal;

/** Refuses a name as a whole when any of its addresses is refused: an answer that mixes both is an attack. */
export async function tryResolve(
  spelledHost: string,
  port: number,
  policy: EgressPolicy,
): Promise<Resolution> {
  const host = parseHost(spelledHost);
  if (host === undefined) return refuse('malformed', 'the host is not a name or an address');
  const spelling = checkHost(host, port, policy);
  if (!spelling.ok) return spelling;
  const isAllowedByName = policy.allowed.has(placeOf(host.text, port));
  let found: readonly ResolvedAddress[];
  if (host.isAddress) {
    found = [{ address: host.text, family: host.text.includes(':') ? 6 : 4 }];
  } else {
    try {
      found = await policy.resolve(host.text);
    } catch (cause) {
      return { ok: false, unresolved: new EgressUnresolved(`${host.text} does not resolve`, { cause }) };
    }
  }
  for (const { address } of isAllowedByName ? [] : found) {
    const fault = findAddressFault(address, policy, port);
    // The address itself stays unsaid: names of our own network must not be looked up through us.
    if (fault !== undefined) return refuse(fault.reason, `${host.text} resolves to ${fault.phrase}`);
  }
  const [first, ...others] = found;
  if (first === undefined) {
    return { ok: false, unresolved: new EgressUnresolved(`${host.text} does not resolve`) };
  }
  return {
    ok: true,
    resolved: {
      ...first,
      host: host.text,
      addresses: [first, ...others],
      port,
      mayBePlain: mayUsePlainHttp(host, port, policy),
    },
  };
}

/**
 * For clients that open their own sockets (IMAP, SMTP, SFTP): dial the address given here, and pass `host` as the TLS
 * server name. Resolving again would undo the check.
 */
export async function resolveGuarded(
  host: string,
  port: number,
  policy: EgressPolicy,
): Promise<GuardedAddress> {
  const resolution = await tryResolve(host, port, policy);
  if (resolution.ok) return resolution.resolved;
  throw 'unresolved' in resolution ? resolution.unresolved : new EgressRefused(resolution);
}

/** The same for whoever would speak to it without TLS, which needs the word of somebody who runs this service. */
export async function resolvePlain(
  spelledHost: string,
  port: number,
  policy: EgressPolicy,
): Promise<GuardedAddress> {
  const host = parseHost(spelledHost);
  if (host === undefined || !mayUsePlainHttp(host, port, policy))
    throw new EgressRefused(refuse('plain_http', 'plain http is not allowed, use https'));
  return resolveGuarded(spelledHost, port, policy);
}
