// What goes out comes back: encodings, addresses and names hold for every input, not only for the ones we thought of.

import { processorMs } from '@libs/runtime/testing';
import fc from 'fast-check';
import { createTransport } from 'nodemailer';
import { describe, expect, it } from 'vitest';
import { formatMailbox, oneLine, parseAddress } from '../addresses.ts';
import { composeMail } from '../sending/compose.ts';
import { replySubject } from '../sending/reply.ts';
import { textOfHtml } from './html-text.ts';
import { decodedBytes } from './message.ts';
import { PARTS_MAX, readMimeTree, safeFilename } from './mime-tree.ts';
import { createTransferDecoder } from './transfer-decoder.ts';

function decodeInPieces(encoded: Buffer, encoding: string, sizes: readonly number[]): Buffer {
  const decoder = createTransferDecoder(encoding);
  const pieces: Buffer[] = [];
  let position = 0;
  for (let turn = 0; position < encoded.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(decoder.push(encoded.subarray(position, position + size)));
    position += size;
  }
  return Buffer.concat([...pieces, decoder.end()]);
}

const base64Lines = (bytes: Buffer) => bytes.toString('base64').replaceAll(/.{76}(?=.)/g, '$&\r\n');

function quotedPrintable(bytes: Buffer): string {
  const escaped = [...bytes].map((byte) => {
    const isPlain = byte >= 33 && byte <= 126 && byte !== 61;
    return isPlain ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  const lines: string[] = [''];
  for (const token of escaped) {
    const line = lines.at(-1) ?? '';
    if (line.length + token.length > 75) lines.push(token);
    else lines[lines.length - 1] = line + token;
  }
  return lines.join('=\r\n');
}

/** Mostly the characters that mean something in a header, and some of everything else. */
const anyText = (maxLength: number) =>
  fc
    .array(fc.oneof(fc.constantFrom(...'\r\n\t\0 <>@,;:"\\()[]=?.ab'), fc.integer({ min: 0, max: 0x2fff })), {
      maxLength,
    })
    .map((units) =>
      units.map((unit) => (typeof unit === 'string' ? unit : String.fromCharCode(unit))).join(''),
    );
const anyBytes = fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes));
const pieceSizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 });

describe('transfer encodings', () => {
  it('decode the same however the bytes arrive', () => {
    fc.assert(
      fc.property(anyBytes, pieceSizes, (bytes, sizes) => {
        expect(decodeInPieces(Buffer.from(base64Lines(bytes)), 'base64', sizes).equals(bytes)).toBe(true);
        const encoded = Buffer.from(quotedPrintable(bytes));
        expect(decodeInPieces(encoded, 'quoted-printable', sizes).equals(bytes)).toBe(true);
        expect(decodeInPieces(bytes, '8bit', sizes).equals(bytes)).toBe(true);
      }),
    );
  });

  it('decode base64 that was encoded in pieces, each with its own padding', () => {
    expect(decodeInPieces(Buffer.from('aGVsbG8=\r\nd29ybGQ=\r\n'), 'base64', [100]).toString()).toBe(
      'helloworld',
    );
    fc.assert(
      fc.property(fc.array(anyBytes, { maxLength: 5 }), pieceSizes, (written, sizes) => {
        const encoded = Buffer.from(written.map(base64Lines).join('\r\n'));
        expect(decodeInPieces(encoded, 'base64', sizes).equals(Buffer.concat(written))).toBe(true);
      }),
    );
  });

  it('keep memory small on a line without end', () => {
    const decoder = createTransferDecoder('quoted-printable');
    let bytes = 0;
    for (let turn = 0; turn < 16; turn += 1) bytes += decoder.push(Buffer.from('=41 '.repeat(8_192))).length;
    expect(decoder.end().length).toBeLessThan(200_000);
    expect(bytes).toBeGreaterThan(15 * 8_192);
  });

  it('take a time that grows with the length alone', () => {
    const startedMs = processorMs();
    for (const line of [
      ' '.repeat(400_000),
      `${' '.repeat(400_000)}x\r\n`,
      '='.repeat(400_000),
      '= '.repeat(200_000),
    ]) {
      const decoder = createTransferDecoder('quoted-printable');
      for (let turn = 0; turn < 3; turn += 1) decoder.push(Buffer.from(line));
      decoder.end();
    }
    expect(processorMs() - startedMs).toBeLessThan(5_000);
  });

  it('tell the size of base64 to the byte', () => {
    fc.assert(
      fc.property(anyBytes, fc.boolean(), (bytes, breakAtEnd) => {
        const encoded = `${base64Lines(bytes)}${breakAtEnd && bytes.length > 0 ? '\r\n' : ''}`;
        const part = {
          partId: '1',
          contentType: 'x/y',
          encoding: 'base64',
          encodedBytes: encoded.length,
          filename: null,
          charset: '',
          isFlowed: false,
          deletesSpace: false,
        };
        expect(decodedBytes(part, encoded.slice(-8))).toBe(bytes.length);
      }),
    );
  });
});

const name = anyText(40);

describe('addresses', () => {
  it('survive being shown and taken back', () => {
    fc.assert(
      fc.property(name, fc.emailAddress(), (label, address) => {
        fc.pre(/^[^\s<>"(),:;@\\[\]]+@[^\s<>"(),:;@\\[\]]+$/u.test(address));
        const shown = formatMailbox({ name: label, address });
        const back = parseAddress(shown);
        expect(back?.address).toBe(address);
      }),
    );
  });

  it('stay one line and one recipient whatever they hold', () => {
    fc.assert(
      fc.property(anyText(200), (entry) => {
        const parsed = parseAddress(entry);
        if (parsed === undefined) return;
        expect(parsed.address).toMatch(/^[^\s,<>]+@[^\s,<>]+$/u);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point.
        expect(`${parsed.name}${parsed.address}`).not.toMatch(/[\u0000-\u001f\u007f]/);
      }),
    );
  });
});

describe('outgoing mail', () => {
  const compose = createTransport({ streamTransport: true, buffer: true });

  it('has exactly the headers that we set, whatever the fields hold', async () => {
    const text = anyText(100);
    await fc.assert(
      fc.asyncProperty(text, text, text, async (subject, displayName, body) => {
        const mail = {
          from: 'bob@mail.test',
          to: [`"${displayName.replaceAll(/["\\]/g, '')}" <alice@mail.test>`],
          subject,
          text: body,
          date: new Date(0),
          newMessageId: () => '<id@mail.test>',
        };
        let options: ReturnType<typeof composeMail>;
        try {
          options = composeMail(mail);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_arguments' });
          return;
        }
        const { message, envelope } = await compose.sendMail(options);
        const [head = ''] = (message as Buffer).toString('latin1').split('\r\n\r\n', 1);
        const names = head
          .replaceAll(/\r\n[ \t]+/g, ' ')
          .split('\r\n')
          .map((line) => line.slice(0, line.indexOf(':')));
        expect(names.toSorted()).toEqual(
          [
            'Content-Transfer-Encoding',
            'Content-Type',
            'Date',
            'From',
            'MIME-Version',
            'Message-ID',
            'Subject',
            'To',
          ].filter((header) => names.includes(header)),
        );
        expect(envelope.to).toEqual(['alice@mail.test']);
      }),
      { numRuns: 200 },
    );
  });
});

describe('what strangers name', () => {
  it('never is a path or more than a line', () => {
    fc.assert(
      fc.property(anyText(300), (given) => {
        const safe = safeFilename(given);
        if (safe !== null) {
          expect(safe.replaceAll(/[\u200c\u200d]/g, '')).not.toMatch(/[/\\\p{Cc}\p{Cf}]/u);
          expect(['.', '..', '']).not.toContain(safe);
        }
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point.
        expect(oneLine(given) + replySubject(given)).not.toMatch(/[\u0000-\u001f\u007f]/);
      }),
    );
  });

  it.each(['نامه‌ها.pdf', 'क्‍ष.txt', '👩‍💻.png'])('keeps what joins the letters of %s', (name) => {
    expect(safeFilename(name)).toBe(name);
  });

  it.each(['\u200d', '.\u200c.', '\u200b', 'a\u202egnp.exe', '\ufeffa'])(
    '%j is not taken as it is',
    (name) => {
      expect(safeFilename(name)).not.toBe(name);
    },
  );

  it('reads any HTML, hostile HTML too, in a time that does not stop the service', async () => {
    const hostile = [
      '<b>',
      '<div>',
      '<ul><li>',
      '<table><tr><td>',
      '<script>',
      '<!--',
      '<',
      '&amp;',
      '<style',
      '</p>',
    ];
    for (const piece of hostile) {
      const startedMs = processorMs();
      const html = `<p>first</p>${piece.repeat(Math.floor(250_000 / piece.length))}`;
      expect((await textOfHtml(html)).value, piece).toMatch(/^first/);
      expect(processorMs() - startedMs, piece).toBeLessThan(1_500);
    }
    const nested = `<b>${'<i>'.repeat(2_000)}a &lt; b<script>x</script><style>y</style> c`;
    expect((await textOfHtml(nested)).value).toBe('a < b c');
  });

  it('reads a structure of any depth in bounded time', () => {
    let node: Record<string, unknown> = { type: 'text/plain', part: '1' };
    for (let depth = 0; depth < 10_000; depth += 1) node = { type: 'multipart/mixed', childNodes: [node] };
    expect(readMimeTree(node as never).text).toEqual([]);
    const wide = {
      type: 'multipart/mixed',
      childNodes: Array(10_000).fill({ type: 'image/png', part: '1' }),
    };
    const read = readMimeTree(wide as never);
    expect(read.attachments.length).toBeLessThanOrEqual(PARTS_MAX);
    expect(read.isCut).toBe(true);
    const whole = { ...wide, childNodes: wide.childNodes.slice(0, PARTS_MAX - 1) };
    expect(readMimeTree(whole as never)).toMatchObject({
      isCut: false,
      attachments: { length: PARTS_MAX - 1 },
    });
  });
});
