import fc from 'fast-check';

// Generators for the tests: one address in the many ways in which it may be written.

type Octets = [number, number, number, number];

const octet = fc.integer({ min: 0, max: 255 });

function inRange(first: fc.Arbitrary<number>, second: fc.Arbitrary<number>): fc.Arbitrary<Octets> {
  return fc.tuple(first, second, octet, octet);
}

const exactly = (value: number) => fc.constant(value);

/** Addresses of every IPv4 range that is not public. */
export const privateIpv4: fc.Arbitrary<Octets> = fc.oneof(
  inRange(exactly(10), octet),
  inRange(exactly(127), octet),
  inRange(exactly(0), octet),
  inRange(exactly(172), fc.integer({ min: 16, max: 31 })),
  inRange(exactly(192), exactly(168)),
  inRange(exactly(169), exactly(254)),
  inRange(exactly(100), fc.integer({ min: 64, max: 127 })),
  inRange(exactly(198), fc.integer({ min: 18, max: 19 })),
  inRange(fc.integer({ min: 224, max: 255 }), octet),
  fc.constantFrom<Octets>(
    [127, 0, 0, 1],
    [169, 254, 169, 254],
    [192, 0, 2, 7],
    [192, 88, 99, 1],
    [198, 51, 100, 9],
    [203, 0, 113, 200],
    [255, 255, 255, 255],
    [168, 63, 129, 16],
  ),
);

function isPublic([a, b, c, d]: Octets): boolean {
  if (a === 0 || a === 10 || a === 127 || a >= 224) return false;
  if (a === 100 && b >= 64 && b <= 127) return false;
  if (a === 169 && b === 254) return false;
  if (a === 172 && b >= 16 && b <= 31) return false;
  if (a === 192 && (b === 168 || (b === 0 && (c === 0 || c === 2)) || (b === 88 && c === 99))) return false;
  if (a === 192 && ((b === 31 && c === 196) || (b === 52 && c === 193) || (b === 175 && c === 48)))
    return false;
  if (a === 198 && (b === 18 || b === 19 || (b === 51 && c === 100))) return false;
  if (a === 203 && b === 0 && c === 113) return false;
  return !(a === 168 && b === 63 && c === 129 && d === 16);
}

export const publicIpv4: fc.Arbitrary<Octets> = fc.tuple(octet, octet, octet, octet).filter(isPublic);

export const dotted = (octets: Octets): string => octets.join('.');

function numeral(value: number, base: number, zeros: number): string {
  if (base === 16) return `0x${'0'.repeat(zeros)}${value.toString(16)}`;
  if (base === 8) return `0${'0'.repeat(zeros)}${value.toString(8)}`;
  return String(value);
}

// `inet_aton` lets the last of one to four parts hold all the bytes that are left.
function shortParts([a, b, c, d]: Octets, count: number): number[] {
  if (count === 1) return [((a * 256 + b) * 256 + c) * 256 + d];
  if (count === 2) return [a, (b * 256 + c) * 256 + d];
  if (count === 3) return [a, b, c * 256 + d];
  return [a, b, c, d];
}

const FULL_WIDTH_ZERO = 0xff10;

function disguise(text: string, how: string): string {
  if (how === 'percent') {
    return [...text].map((one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
  }
  if (how === 'fullwidth') {
    return text.replace(/\d/g, (digit) => String.fromCharCode(FULL_WIDTH_ZERO + Number(digit)));
  }
  if (how === 'ideographic dots') return text.replaceAll('.', '。');
  if (how === 'upper case') return text.toUpperCase().replaceAll('0X', '0x');
  if (how === 'trailing dot') return `${text}.`;
  return text;
}

/** Part by part in decimal, hex or octal, from one to four parts, and with the characters themselves disguised. */
export function ipv4Spelling(octets: Octets): fc.Arbitrary<string> {
  const style = fc.record({
    count: fc.integer({ min: 1, max: 4 }),
    bases: fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }),
    zeros: fc.integer({ min: 0, max: 3 }),
    how: fc.constantFrom('plain', 'percent', 'fullwidth', 'ideographic dots', 'upper case', 'trailing dot'),
  });
  return style.map(({ count, bases, zeros, how }) => {
    const parts = shortParts(octets, count);
    return disguise(parts.map((part, index) => numeral(part, bases[index] ?? 10, zeros)).join('.'), how);
  });
}

const hex = (value: number) => value.toString(16);

/** IPv6 forms that hold an IPv4 address. */
export function ipv6Carrier([a, b, c, d]: Octets): fc.Arbitrary<string> {
  const high = hex(a * 256 + b);
  const low = hex(c * 256 + d);
  const inverted = `${hex((a * 256 + b) ^ 0xffff)}:${hex((c * 256 + d) ^ 0xffff)}`;
  return fc.constantFrom(
    `::ffff:${a}.${b}.${c}.${d}`,
    `::ffff:${high}:${low}`,
    `0:0:0:0:0:FFFF:${high}:${low}`,
    `::${high}:${low}`,
    `::ffff:0:${high}:${low}`,
    `64:ff9b::${high}:${low}`,
    `64:ff9b::${a}.${b}.${c}.${d}`,
    `64:ff9b:1::${high}:${low}`,
    `64:ff9b:1:${high}:${low}::`,
    `2002:${high}:${low}::1`,
    `2002:${high}:${low}:1:2:3:4:5`,
    `2001:0:${high}:${low}::`,
    `2001:0:4136:e378:8000:63bf:${inverted}`,
  );
}

const group = fc.integer({ min: 0, max: 0xffff }).map(hex);
const groups = (count: number) => fc.array(group, { minLength: count, maxLength: count });

/** Native IPv6 addresses that are not public. */
export const privateIpv6: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '::',
    '::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
  ),
  fc
    .tuple(fc.integer({ min: 0xfc00, max: 0xfdff }).map(hex), groups(7))
    .map(([head, rest]) => [head, ...rest].join(':')),
  fc
    .tuple(fc.integer({ min: 0xfe80, max: 0xfeff }).map(hex), groups(7))
    .map(([head, rest]) => [head, ...rest].join(':')),
  fc
    .tuple(fc.integer({ min: 0xff00, max: 0xffff }).map(hex), groups(7))
    .map(([head, rest]) => [head, ...rest].join(':')),
  groups(6).map((rest) => ['2001', 'db8', ...rest].join(':')),
  groups(7).map((rest) => ['4000', ...rest].join(':')),
);

/** From blocks that registries gave out. */
export const publicIpv6: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('2400', '2600', '2606', '2800', '2a00', '2a03', '2c0f'), groups(7))
  .map(([head, rest]) => [head, ...rest].join(':'));
