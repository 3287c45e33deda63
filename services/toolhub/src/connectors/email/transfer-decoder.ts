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

function quotedPrintableDecoder(): TransferDecoder {
  let rest = '';

  function decodeLine(line: string): string {
    const lineBreak = LINE_BREAK.exec(line)?.[0] ?? '';
    // RFC 2045 6.7 (3): white space at the end of a line was added on the way.
    const body = line.slice(0, line.length - lineBreak.length).replace(/[ \t]+$/, '');
    const isSoft = body.endsWith('=');
    const text = (isSoft ? body.slice(0, -1) : body).replaceAll(/=([0-9A-Fa-f]{2})/g, (_whole, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return isSoft ? text : text + lineBreak;
  }

  /** Lines without end would collect in memory; such input is no quoted-printable and is cut where it does no harm. */
  const LINE_LENGTH_MAX = 64 * 1024;

  return {
    push(chunk) {
      const text = rest + chunk.toString('latin1');
      let end = text.lastIndexOf('\n') + 1;
      if (text.length - end > LINE_LENGTH_MAX) end = text.length - 2;
      rest = text.slice(end);
      const lines = text.slice(0, end).match(/[^\n]*\n|[^\n]+/g) ?? [];
      return Buffer.from(lines.map(decodeLine).join(''), 'latin1');
    },
    end: () => Buffer.from(decodeLine(rest), 'latin1'),
  };
}
