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

function decodeLine(line: string): string {
  const lineBreak = LINE_BREAK.exec(line)?.[0] ?? '';
  // RFC 2045 6.7 (3): white space at the end of a line was added on the way.
  const body = line.slice(0, line.length - lineBreak.length).replace(/[ \t]+$/, '');
  return body.endsWith('=') ? decodeEscapes(body.slice(0, -1)) : decodeEscapes(body) + lineBreak;
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
        // An escape, or white space whose meaning the line's end decides, is not torn apart.
        const tail = /(?:=[0-9A-Fa-f]?[ \t]*|[ \t]+)$/.exec(rest.slice(-LINE_LENGTH_MAX))?.[0] ?? '';
        const cut = tail.length < LINE_LENGTH_MAX ? rest.length - tail.length : rest.length;
        decoded += decodeEscapes(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
      return Buffer.from(decoded, 'latin1');
    },
    end: () => Buffer.from(decodeLine(rest), 'latin1'),
  };
}
