import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dotted,
  ipv4Spelling,
  ipv6Carrier,
  privateIpv4,
  privateIpv6,
  publicIpv4,
  publicIpv6,
} from '../test/spellings.ts';
import { checkAddress, createEgressPolicy, EgressPolicyError } from './policy.ts';
import type { RefusalReason } from './refusal.ts';
import type { ResolveHost } from './system-resolver.ts';
import { checkUrl, checkUrlResolved } from './url.ts';

const strict = createEgressPolicy();
const development = createEgressPolicy({ development: true });

function outcome(url: string, policy = strict): RefusalReason | 'accepted' {
  const checked = checkUrl(url, policy);
  return checked.ok ? 'accepted' : checked.reason;
}

describe('checkUrl refuses by spelling', () => {
  it.each<[string, RefusalReason]>([
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['gopher://example.com', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['http://example.com/hook', 'plain_http'],
    ['https://user@example.com/', 'credentials'],
    ['https://user:password@example.com/', 'credentials'],
    ['https://@example.com/', 'credentials'],
    ['https://example.com@127.0.0.1/', 'credentials'],
    ['https://localhost/', 'local_name'],
    ['https://LOCALHOST:8443/', 'local_name'],
    ['https://api.localhost/', 'local_name'],
    ['https://ｌｏｃａｌｈｏｓｔ/', 'local_name'],
    ['https://printer.local/', 'local_name'],
    ['https://metadata.google.internal/computeMetadata/v1/', 'local_name'],
    ['https://internal/', 'local_name'],
    ['https://localhost./', 'trailing_dot'],
    ['https://example.com./', 'trailing_dot'],
    ['https://127.0.0.1./', 'trailing_dot'],
    ['https://example.com。/', 'trailing_dot'],
    ['https://example.com../', 'malformed'],
    ['https://127.0.0.1/', 'loopback'],
    ['https://[::1]/', 'loopback'],
    ['https://10.1.2.3/', 'private'],
    ['https://172.31.255.255/', 'private'],
    ['https://192.168.0.1:8443/', 'private'],
    ['https://[fd12:3456::1]/', 'private'],
    ['https://[fec0::1]/', 'private'],
    ['https://169.254.1.1/', 'link_local'],
    ['https://[fe80::1]/', 'link_local'],
    ['https://169.254.169.254/latest/meta-data/', 'metadata'],
    ['https://[fd00:ec2::254]/latest/', 'metadata'],
    ['https://168.63.129.16/', 'metadata'],
    ['https://100.64.0.1/', 'carrier_grade_nat'],
    ['https://224.0.0.1/', 'multicast'],
    ['https://255.255.255.255/', 'multicast'],
    ['https://[ff02::1]/', 'multicast'],
    ['https://0.0.0.0/', 'unspecified'],
    ['https://0.1.2.3/', 'unspecified'],
    ['https://[::]/', 'unspecified'],
    ['https://192.0.2.1/', 'reserved'],
    ['https://198.18.0.1/', 'reserved'],
    ['https://203.0.113.1/', 'reserved'],
    ['https://240.0.0.1/', 'reserved'],
    ['https://[2001:db8::1]/', 'reserved'],
    ['https://[::ffff:127.0.0.1]/', 'spelling'],
    ['https://[::ffff:8.8.8.8]/', 'spelling'],
    ['https://[::127.0.0.1]/', 'embedded'],
    ['https://[64:ff9b::10.0.0.1]/', 'embedded'],
    ['https://[64:ff9b:1::8.8.8.8]/', 'embedded'],
    ['https://[2002:7f00:1::]/', 'embedded'],
    ['https://[2001:0:4136:e378:8000:63bf:f5ff:fffe]/', 'embedded'],
    ['https://2130706433/', 'spelling'],
    ['https://0x7f.1/', 'spelling'],
    ['https://017700000001/', 'spelling'],
    ['https://127.1/', 'spelling'],
    ['https://134744072/', 'spelling'],
    ['https://%31%32%37.0.0.1/', 'spelling'],
    ['https://ex%61mple.com/', 'spelling'],
    ['https://１２７.0.0.1/', 'spelling'],
    ['https://127。0。0。1/', 'spelling'],
    ['https://[fe80::1%25eth0]/', 'malformed'],
    ['https://[fe80::1%eth0]/', 'malformed'],
    ['https:///hook', 'malformed'],
    ['https://', 'malformed'],
    ['https://:443/', 'malformed'],
    ['https:example.com', 'malformed'],
    ['https:/example.com', 'malformed'],
    ['https:\\\\example.com\\', 'malformed'],
    ['https://example.com\\@127.0.0.1/', 'malformed'],
    [' https://example.com/', 'malformed'],
    ['https://exam\nple.com/', 'malformed'],
    ['https://exam\tple.com/', 'malformed'],
    ['//example.com/', 'malformed'],
    ['/hook', 'malformed'],
    ['', 'malformed'],
    ['https://example.com:99999/', 'malformed'],
    ['https://example.com:0/', 'malformed'],
    ['https://exa mple.com/', 'malformed'],
    ['https://256.256.256.256/', 'malformed'],
    [`https://${'a'.repeat(64)}.com/`, 'malformed'],
    [`https://example.com/${'a'.repeat(2048)}`, 'malformed'],
  ])('%s: %s', (url, reason) => {
    expect(outcome(url)).toBe(reason);
  });

  it.each([
    'https://example.com',
    'https://example.com/hook?x=1#y',
    'HTTPS://EXAMPLE.com:8443/hook',
    'https://bücher.example/',
    'https://a_b.example/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]:8443/',
    'https://[64:ff9b::8.8.8.8]/',
    'https://[2002:808:808::1]/',
    'https://locals.example/',
    'https://mylocalhost/',
    'https://example.com:22/',
  ])('but accepts %s', (url) => {
    expect(outcome(url)).toBe('accepted');
  });
});

const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });

describe('generated spellings', () => {
  it('refuses 2,000 spellings of private IPv4 addresses, strict and in development', () => {
    const spelled = privateIpv4.chain((octets) =>
      ipv4Spelling(octets).map((spelling) => ({ spelling, plain: dotted(octets) })),
    );
    fc.assert(
      fc.property(spelled, fc.boolean(), ({ spelling, plain }, withPort) => {
        const url = `https://${spelling}${withPort ? ':8443' : ''}/hook`;
        expect(outcome(url)).not.toBe('accepted');
        const isPlainLoopback = spelling === plain && plain.startsWith('127.');
        expect(outcome(url, development) === 'accepted').toBe(isPlainLoopback);
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses 1,000 private addresses inside IPv6 forms, as URL and as resolved address', () => {
    fc.assert(
      fc.property(privateIpv4.chain(ipv6Carrier), (address) => {
        // `::` with 0.0.0.1 inside is the loopback address itself; it is refused as such.
        expect(outcome(`https://[${address}]/`)).not.toBe('accepted');
        expect(checkAddress(address, strict).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('refuses 1,000 native IPv6 addresses that are not public', () => {
    fc.assert(
      fc.property(privateIpv6, (address) => {
        expect(outcome(`https://[${address}]/`)).not.toBe('accepted');
        expect(checkAddress(address, strict).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('accepts public addresses', () => {
    fc.assert(
      fc.property(publicIpv4, publicIpv6, (octets, six) => {
        expect(outcome(`https://${dotted(octets)}/`)).toBe('accepted');
        expect(outcome(`https://[${six}]/`)).toBe('accepted');
        expect(checkAddress(dotted(octets), strict).ok).toBe(true);
        expect(checkAddress(six, strict).ok).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('', 'https://', 'http://['), (text, head) => {
        expect(typeof checkUrl(head + text, development).ok).toBe('boolean');
      }),
      { numRuns: 1000 },
    );
  });
});

it('refuses an address that chooses an interface of this machine, public or not', () => {
  expect(checkAddress('2606:4700:4700::1111%eth0', strict)).toMatchObject({ ok: false, reason: 'malformed' });
});

describe('development', () => {
  it.each([
    'http://127.0.0.1:3000/',
    'http://127.8.9.1/',
    'http://[::1]:3000/',
    'http://localhost:3000/hook',
    'http://api.localhost:3000/',
    'https://localhost/',
  ])('lets %s through', (url) => {
    expect(outcome(url, development)).toBe('accepted');
  });

  it.each<[string, RefusalReason]>([
    ['http://0.0.0.0:3000/', 'unspecified'],
    ['http://[::]:3000/', 'unspecified'],
    ['http://10.0.0.1/', 'private'],
    ['http://169.254.169.254/', 'metadata'],
    ['http://example.com/', 'plain_http'],
    ['http://8.8.8.8/', 'plain_http'],
    ['http://printer.local/', 'local_name'],
    ['http://[::ffff:127.0.0.1]/', 'spelling'],
  ])('still refuses %s: %s', (url, reason) => {
    expect(outcome(url, development)).toBe(reason);
  });
});

describe('allowed places', () => {
  const policy = createEgressPolicy({
    allow: [
      '127.0.0.1:9000',
      ' LocalHost.:9001 ',
      '[::1]:9002',
      '0x0a000001:80',
      'Bücher.example:8080',
      '10.0.0.9:443',
    ],
  });

  it.each([
    'http://127.0.0.1:9000/hook',
    'https://127.0.0.1:9000/hook',
    'http://2130706433:9000/',
    'http://0x7f.1:9000/',
    'http://127.0.0.1.:9000/',
    'http://[::ffff:127.0.0.1]:9000/',
    'http://localhost:9001/',
    'http://localhost.:9001/',
    'http://[0:0::1]:9002/',
    'http://10.0.0.1/',
    'http://xn--bcher-kva.example:8080/',
    'https://10.0.0.9/',
  ])('lets %s through', (url) => {
    expect(outcome(url, policy)).toBe('accepted');
  });

  it.each<[string, RefusalReason]>([
    ['http://127.0.0.1:9001/', 'loopback'],
    ['http://127.0.0.2:9000/', 'loopback'],
    ['http://localhost:9000/', 'local_name'],
    ['http://user@127.0.0.1:9000/', 'credentials'],
    ['ftp://127.0.0.1:9000/', 'scheme'],
    ['http://10.0.0.9/', 'private'],
    ['https://10.0.0.1/', 'private'],
  ])('but not %s: %s', (url, reason) => {
    expect(outcome(url, policy)).toBe(reason);
  });

  it.each([
    'example.com',
    'example.com:',
    ':80',
    'example.com:0',
    'example.com:70000',
    'a b:80',
    'http://x:80',
    '',
  ])('refuses the setting %j', (entry) => {
    expect(() => createEgressPolicy({ allow: [entry] })).toThrow(EgressPolicyError);
  });
});

describe('checkUrlResolved', () => {
  function resolvingTo(...addresses: string[]): ResolveHost {
    return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  }

  it('refuses a name when any of its addresses is private', async () => {
    const policy = createEgressPolicy({ resolve: resolvingTo('93.184.215.14', '10.0.0.7') });
    const checked = await checkUrlResolved('https://mixed.example/', policy);
    // The answer must not tell what addresses our resolver knows.
    const detail = 'mixed.example resolves to an address in a private range';
    expect(checked).toEqual({ ok: false, reason: 'private', detail });
  });

  it('refuses names that resolve to any generated private address', async () => {
    const address = fc.oneof(privateIpv4.map(dotted), privateIpv4.chain(ipv6Carrier), privateIpv6);
    await fc.assert(
      fc.asyncProperty(address, async (text) => {
        const policy = createEgressPolicy({ resolve: resolvingTo('1.1.1.1', text) });
        expect((await checkUrlResolved('https://rebound.example/', policy)).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('accepts a public name, and one that does not resolve', async () => {
    const known = createEgressPolicy({ resolve: resolvingTo('93.184.215.14', '2606:2800:21f::1') });
    expect((await checkUrlResolved('https://example.com/', known)).ok).toBe(true);
    const empty = createEgressPolicy({ resolve: resolvingTo() });
    expect((await checkUrlResolved('https://nowhere.example/', empty)).ok).toBe(true);
    const failing = createEgressPolicy({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect((await checkUrlResolved('https://nowhere.example/', failing)).ok).toBe(true);
  });

  it('lets an allowed name resolve to a private address, on its port alone', async () => {
    const policy = createEgressPolicy({ allow: ['receiver.test:8080'], resolve: resolvingTo('10.0.0.5') });
    expect((await checkUrlResolved('http://receiver.test:8080/', policy)).ok).toBe(true);
    expect((await checkUrlResolved('https://receiver.test/', policy)).ok).toBe(false);
  });

  it('asks no resolver for addresses and refused URLs', async () => {
    const policy = createEgressPolicy({
      resolve: () => {
        throw new Error('the resolver was asked');
      },
    });
    expect((await checkUrlResolved('https://8.8.8.8/', policy)).ok).toBe(true);
    expect((await checkUrlResolved('https://localhost/', policy)).ok).toBe(false);
  });

  it('resolves names of this machine through the system', async () => {
    const checked = await checkUrlResolved('https://localhost.localdomain.invalid/', strict);
    expect(checked.ok).toBe(true);
    expect((await checkUrlResolved('http://localhost:9/', development)).ok).toBe(true);
  });
});
