/** Undoes a Content-Transfer-Encoding piece by piece, so that a part of any size needs little memory. */
export interface TransferDecoder {
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

export function createTransferDecoder(encoding: string): TransferDecoder {
  switch (encoding) {
    case 'base64':
      return base64Decoder();
    case 'quoted-printable':
      return quotedPrintableDecoder();
    default:
      return { push: (chunk) => chunk, end: () => Buffer.alloc(0) };
  }
}

export function isIdentityEncoding(encoding: string): boolean {
  return encoding !== 'base64' && encoding !== 'quoted-printable';
}

const NOT_BASE64 = /[^A-Za-z0-9+/]+/g;

function base64Decoder(): TransferDecoder {
  let rest = '';
  return {
    push(chunk) {
      const text = rest + chunk.toString('latin1').replaceAll(NOT_BASE64, '');
      const whole = text.length - (text.length % 4);
      rest = text.slice(whole);
      return Buffer.from(text.slice(0, whole), 'base64');
    },
    end: () => Buffer.from(rest, 'base64'),
  };
}

const LINE_BREAK = /\r?\n$/;
/** Lines without end would collect in memory; what is longer than this is decoded without waiting for its end. */
const LINE_LENGTH_MAX = 64 * 1024;

function decodeEscapes(text: string): string {
  return text.replaceAll(/=([0-9A-Fa-f]{2})/g, (_whole, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Where the white space before `end` begins. A pattern would take a time that grows with the square of its length. */
function endOfText(text: string, end: number): number {
  let position = end;
  while (position > 0 && (text[position - 1] === ' ' || text[position - 1] === '\t')) position -= 1;
  return position;
}

function decodeLine(line: string): string {
  const lineBreak = LINE_BREAK.exec(line)?.[0] ?? '';
  // RFC 2045 6.7 (3): white space at the end of a line was added on the way.
  const body = line.slice(0, endOfText(line, line.length - lineBreak.length));
  return body.endsWith('=') ? decodeEscapes(body.slice(0, -1)) : decodeEscapes(body) + lineBreak;
}

/** A place near the end that tears neither an escape nor white space whose meaning the line's end decides. */
function safeCut(text: string): number {
  const end = endOfText(text, text.length);
  const cut = [1, 2].map((back) => end - back).find((place) => text[place] === '=') ?? end;
  // Nothing but white space: no line that anyone wrote, so it is let through as it is.
  return text.length - cut > LINE_LENGTH_MAX ? text.length : cut;
}

function quotedPrintableDecoder(): TransferDecoder {
  let rest = '';
  return {
    push(chunk) {
      const text = rest + chunk.toString('latin1');
      const linesEnd = text.lastIndexOf('\n') + 1;
      const lines = text.slice(0, linesEnd).match(/[^\n]*\n/g) ?? [];
      let decoded = lines.map(decodeLine).join('');
      rest = text.slice(linesEnd);
      if (rest.length > LINE_LENGTH_MAX) {
        const cut = safeCut(rest);
        decoded += decodeEscapes(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
      return Buffer.from(decoded, 'latin1');
    },
    end: () => Buffer.from(decodeLine(rest), 'latin1'),
  };
}
