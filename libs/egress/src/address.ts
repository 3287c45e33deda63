import ipaddr from 'ipaddr.js';
import type { RefusalReason } from './refusal.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What stands in the way of a public connection, or `public`. */
export type AddressKind =
  | 'public'
  | Exclude<
      RefusalReason,
      'scheme' | 'plain_http' | 'credentials' | 'trailing_dot' | 'spelling' | 'local_name'
    >;

// Metadata services that clouds put on addresses outside the link-local range.
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(
  [
    '169.254.169.254',
    '169.254.170.2',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
  ].map((text) => ipaddr.parse(text).toNormalizedString()),
);

// Of IPv6, only 2000::/3 is given out as global unicast; the rest is special or unassigned.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const WELL_KNOWN_NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

const KIND_BY_RANGE: Readonly<Record<string, AddressKind>> = {
  unicast: 'public',
  loopback: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'private',
  linkLocal: 'link_local',
  carrierGradeNat: 'carrier_grade_nat',
  multicast: 'multicast',
  broadcast: 'multicast',
  unspecified: 'unspecified',
  ipv4Mapped: 'embedded',
  rfc6145: 'embedded',
  teredo: 'embedded',
};

function parseAddress(text: string): Address | undefined {
  // A zone id chooses an interface of this machine, so such an address is never public.
  if (text.includes('%')) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

function embeddedIpv4(address: ipaddr.IPv6, firstByte: number): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(firstByte, firstByte + 4));
}

// NAT64 and 6to4 lead to the IPv4 address inside, so they are as public as that address. The local-use NAT64 prefix
// (RFC 8215) leads wherever its network's operator says, and is refused as a whole.
function classifyTranslated(address: ipaddr.IPv6, range: string): AddressKind | undefined {
  if (range === '6to4') return classifyParsed(embeddedIpv4(address, 2)) === 'public' ? 'public' : 'embedded';
  if (range !== 'rfc6052') return undefined;
  return address.match(WELL_KNOWN_NAT64) && classifyParsed(embeddedIpv4(address, 12)) === 'public'
    ? 'public'
    : 'embedded';
}

function classifyParsed(address: Address): AddressKind {
  if (METADATA_ADDRESSES.has(address.toNormalizedString())) return 'metadata';
  const range: string = address.range();
  if (address instanceof ipaddr.IPv6) {
    const translated = classifyTranslated(address, range);
    if (translated !== undefined) return translated;
    // ::/96 without ::1 and :: holds the deprecated IPv4-compatible forms.
    const isCompatible = address.parts.slice(0, 6).every((part) => part === 0);
    if (isCompatible && range === 'unicast') return 'embedded';
    if (range === 'unicast' && !address.match(GLOBAL_UNICAST)) return 'reserved';
  }
  return KIND_BY_RANGE[range] ?? 'reserved';
}

/** Takes canonical text, as a resolver or a URL gives it; anything else is `malformed`. */
export function classifyAddress(text: string): AddressKind {
  const address = parseAddress(text);
  return address === undefined ? 'malformed' : classifyParsed(address);
}

/** One spelling per address; an IPv4 address in its mapped IPv6 form becomes the IPv4 address. */
export function canonicalAddress(text: string): string | undefined {
  const address = parseAddress(text);
  if (address === undefined) return undefined;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress())
    return address.toIPv4Address().toString();
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}
