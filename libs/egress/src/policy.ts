import { type AddressKind, canonicalAddress, classifyAddress } from './address.ts';
import { type Host, isLocalhostName, parseHost, placeOf } from './host.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type ResolveHost, resolveWithSystem } from './system-resolver.ts';

export interface EgressPolicyOptions {
  /** `host:port` entries that may be private and may use plain http. */
  readonly allow?: readonly string[];
  /** Lets 127.0.0.0/8, ::1, `localhost` and names under it through; never 0.0.0.0 or ::. */
  readonly development?: boolean;
  readonly resolve?: ResolveHost;
}

export interface EgressPolicy {
  readonly allowed: ReadonlySet<string>;
  readonly development: boolean;
  readonly resolve: ResolveHost;
}

/** An entry of the allow list that is not `host:port`: a mistake in the settings, reported at the start. */
export class EgressPolicyError extends Error {
  override readonly name = 'EgressPolicyError';
}

export type AllowResult =
  | { readonly ok: true; readonly place: string }
  | { readonly ok: false; readonly detail: string };

const PORT_MAX = 65_535;

/** Brings one `host:port` of the settings to its canonical form. */
function parseAllowEntry(entry: string): AllowResult {
  const match = /^(.+):(\d{1,5})$/.exec(entry.trim());
  const host = match?.[1] === undefined ? undefined : parseHost(match[1]);
  const port = Number(match?.[2]);
  if (host === undefined || port < 1 || port > PORT_MAX) {
    return { ok: false, detail: `not host:port: ${JSON.stringify(entry)}` };
  }
  return { ok: true, place: placeOf(host.text, port) };
}

/** What is wrong with the setting of this name, for the one message about all settings; it repeats no value. */
export function allowProblems(name: string, entries: readonly string[] = []): string[] {
  const bad = entries.findIndex((entry) => !parseAllowEntry(entry).ok);
  return bad === -1 ? [] : [`${name} must be a comma list of host:port (entry ${bad + 1} is not)`];
}

export function createEgressPolicy(options: EgressPolicyOptions = {}): EgressPolicy {
  const allowed = new Set<string>();
  for (const entry of options.allow ?? []) {
    const result = parseAllowEntry(entry);
    if (!result.ok) throw new EgressPolicyError(result.detail);
    allowed.add(result.place);
  }
  return {
    allowed,
    development: options.development ?? false,
    resolve: options.resolve ?? resolveWithSystem,
  };
}

const KIND_PHRASES: Readonly<Record<Exclude<AddressKind, 'public'>, string>> = {
  malformed: 'not an address',
  loopback: 'a loopback address',
  private: 'an address in a private range',
  link_local: 'a link-local address',
  metadata: 'the address of a cloud metadata service',
  carrier_grade_nat: 'an address in the shared range of carriers',
  multicast: 'a multicast or broadcast address',
  unspecified: 'an address that stands for this machine',
  reserved: 'an address in a reserved range',
  embedded: 'an address that carries an IPv4 address which is not public',
};

/** What is wrong with an address, or undefined when it may be dialled. */
export function findAddressFault(
  ip: string,
  policy: EgressPolicy,
  port?: number,
): { readonly reason: Exclude<AddressKind, 'public'>; readonly phrase: string } | undefined {
  const canonical = canonicalAddress(ip);
  if (canonical !== undefined && port !== undefined && policy.allowed.has(placeOf(canonical, port)))
    return undefined;
  const kind = classifyAddress(ip);
  if (kind === 'public' || (kind === 'loopback' && policy.development)) return undefined;
  return { reason: kind, phrase: KIND_PHRASES[kind] };
}

/** One address, as it would be dialled. With a port, places that the policy allows pass too. */
export function checkAddress(
  ip: string,
  policy: EgressPolicy,
  port?: number,
): { readonly ok: true } | Refusal {
  const fault = findAddressFault(ip, policy, port);
  return fault === undefined ? { ok: true } : refuse(fault.reason, `${ip} is ${fault.phrase}`);
}

function isLocalName(text: string): boolean {
  return isLocalhostName(text) || /(^|\.)(local|internal)$/.test(text);
}

/** A place by its spelling alone, before any name is resolved. Allowed places come first: they may be private. */
export function checkHost(host: Host, port: number, policy: EgressPolicy): { readonly ok: true } | Refusal {
  if (policy.allowed.has(placeOf(host.text, port))) return { ok: true };
  if (host.hadTrailingDot) return refuse('trailing_dot', 'the host ends in a dot');
  if (!host.isPlainlySpelled) {
    return refuse('spelling', `the host is an unusual spelling of ${host.text}`);
  }
  if (host.isAddress) return checkAddress(host.text, policy, port);
  if (policy.development && isLocalhostName(host.text)) return { ok: true };
  return isLocalName(host.text)
    ? refuse('local_name', `${host.text} is a name of local networks`)
    : { ok: true };
}

/** Plain http may go only where somebody who runs this service said so. */
export function mayUsePlainHttp(host: Host, port: number, policy: EgressPolicy): boolean {
  if (policy.allowed.has(placeOf(host.text, port))) return true;
  if (!policy.development) return false;
  return host.isAddress ? classifyAddress(host.text) === 'loopback' : isLocalhostName(host.text);
}
