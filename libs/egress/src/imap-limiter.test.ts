// The limits on what an IMAP server sends, byte for byte.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IMAP_LIMITS, ImapLimitExceeded, ImapLimiter } from './imap-limiter.ts';
import { SmtpLimitExceeded, SmtpLimiter } from './smtp-limiter.ts';

function limiterFor(command = 'LIST'): ImapLimiter {
  const limiter = new ImapLimiter();
  limiter.beginCommand(command);
  return limiter;
}

const push = (limiter: ImapLimiter, text: string) => limiter.push(Buffer.from(text, 'latin1')).map(String);
const refusal = (text: string) => () => push(limiterFor(), text);

describe('the limiter of IMAP', () => {
  it('lets whole answers through unchanged, literals and all, however they arrive', () => {
    const text =
      '* OK ready\r\n* LIST () "/" {5}\r\n)\r\n"( rest\r\n* 1 FETCH (BODY[] {0}\r\n X {2}\r\nab)\r\nA1 OK done\r\n';
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (sizes) => {
        const limiter = limiterFor();
        const out: string[] = [];
        for (let start = 0, turn = 0; start < text.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          out.push(...push(limiter, text.slice(start, start + size)));
          start += size;
        }
        expect(out.join('')).toBe(text);
        expect(out).toHaveLength(4);
        expect(limiter.isAmidAnswer).toBe(false);
      }),
    );
  });

  it('refuses a line, a word, a nesting, a literal and a number of answers that is too large', () => {
    expect(refusal(`* LIST () "/" "${'x'.repeat(IMAP_LIMITS.lineBytes)}`)).toThrow(/line of more than 65536/);
    expect(refusal(`* OK ${'x'.repeat(IMAP_LIMITS.statusBytes)}`)).toThrow(/line of more than 16384/);
    expect(refusal(`* LIST ${'['.repeat(30)}\r\n`)).toThrow(/brackets/);
    expect(refusal(`* FLAGS ${'x'.repeat(513)}\r\n`)).toThrow(/word of more than 512/);
    expect(refusal(`* LIST ${'x'.repeat(4_097)}\r\n`)).toThrow(/word of more than 4096/);
    expect(refusal(`* LIST ${'('.repeat(21)}\r\n`)).toThrow(/nested/);
    expect(refusal(`* LIST ${'a '.repeat(6_001)}\r\n`)).toThrow(/words/);
    expect(refusal('* LIST {2097153}\r\n')).toThrow(/literal/);
    expect(refusal('* LIST {0}\r\n'.repeat(1_001))).toThrow(/literals/);
    expect(refusal('* LIST () "/" a\r\n'.repeat(10_001))).toThrow(/10000 answers/);
    expect(() => push(limiterFor('NOOP'), '* 1 EXISTS\r\n'.repeat(2_001))).toThrow(ImapLimitExceeded);
    const single = limiterFor('LIST');
    single.beginCommand('LIST', { wantsAll: false });
    expect(() => push(single, '* LIST () "/" a\r\n'.repeat(101))).toThrow(/100 answers/);
  });

  it('takes the path of a folder in words outside of ASCII, which the encoding makes long', () => {
    // Three levels of ninety Cyrillic letters each.
    const path = ['&', '&', '&'].map((mark) => `${mark}${'BDAEOwQw'.repeat(30)}-`).join('/');
    for (const head of ['LIST () "/"', 'XLIST () "/"', 'LSUB () "/"', 'STATUS']) {
      const answer = `* ${head} ${path}\r\n`;
      expect(push(limiterFor(), answer)).toEqual([answer]);
    }
  });

  it('counts the bytes of a command, and nothing that the server says begins another', () => {
    const limiter = limiterFor('UID FETCH');
    const literal = `* 1 FETCH (BODY[] {1000000}\r\n${'x'.repeat(1_000_000)})\r\nA1 OK\r\n`;
    expect(() => {
      for (let turn = 0; turn < 40; turn += 1) push(limiter, literal);
    }).toThrow(/33554432 bytes/);
    const other = limiterFor('UID FETCH');
    for (let turn = 0; turn < 40; turn += 1) {
      other.beginCommand('UID FETCH');
      push(other, literal);
    }
  });

  it('leaves out a message that is too much, and only that', () => {
    const limiter = limiterFor('UID FETCH');
    const long = `* 2 FETCH (ENVELOPE ("${'x'.repeat(70_000)} {4}\r\nab\r\n more" {3}\r\nabc))\r\n`;
    const out = push(limiter, `* 1 FETCH (UID 1)\r\n${long}* 3 FETCH (UID 3)\r\n`);
    expect(out).toEqual(['* 1 FETCH (UID 1)\r\n', '* 3 FETCH (UID 3)\r\n']);
    expect(limiter.skipped).toEqual([{ kind: 'FETCH', reason: 'a line of more than 65536 bytes' }]);
    limiter.beginCommand('NOOP');
    expect(limiter.skipped).toEqual([]);
  });

  it('lets a search of five thousand numbers and a move of five hundred pass', () => {
    const numbers = Array.from({ length: 5_000 }, (_, index) => 4_000_000_000 + index);
    expect(push(limiterFor('UID SEARCH'), `* SEARCH ${numbers.join(' ')}\r\n`)).toHaveLength(1);
    const set = Array.from({ length: 500 }, (_, index) => 4_000_000_000 + 2 * index).join(',');
    expect(push(limiterFor('UID MOVE'), `* OK [COPYUID 1 ${set} ${set}] moved\r\n`)).toHaveLength(1);
  });
});

describe('the limiter of SMTP', () => {
  it('lets a conversation pass and refuses lines, numbers of them and bytes that are too many', () => {
    const check = (text: string) => () => new SmtpLimiter().check(Buffer.from(text));
    expect(check('220 hi\r\n250-a\r\n250 b\r\n'.repeat(100))).not.toThrow();
    expect(check('x'.repeat(4_097))).toThrow(/line of more than 4096/);
    expect(check('250-\r\n'.repeat(2_001))).toThrow(/2000 lines/);
    expect(check(`${'x'.repeat(2_000)}\r\n`.repeat(150))).toThrow(SmtpLimitExceeded);
    const limiter = new SmtpLimiter();
    expect(() => {
      for (let turn = 0; turn < 4_097; turn += 1) limiter.check(Buffer.from('x'));
    }).toThrow(/line/);
  });
});
