// Reads the text of a PDF that pdfkit wrote: what each piece says and where it stands.
import { inflateSync } from 'node:zlib';

export interface PdfText {
  page: number;
  /** From the left and from the top, in points. */
  x: number;
  y: number;
  text: string;
}

interface PdfObject {
  head: string;
  stream: string;
}

function objectsOf(pdf: Buffer): Map<string, PdfObject> {
  const text = pdf.toString('latin1');
  const objects = new Map<string, PdfObject>();
  for (const match of text.matchAll(/^(\d+) 0 obj\n/gm)) {
    const begin = match.index + match[0].length;
    const streamAt = text.indexOf('stream\n', begin);
    const end = text.indexOf('endobj', begin);
    const hasStream = streamAt !== -1 && streamAt < end;
    const head = text.slice(begin, hasStream ? streamAt : end);
    const length = Number(/\/Length (\d+)/.exec(head)?.[1] ?? 0);
    const bytes = pdf.subarray(streamAt + 7, streamAt + 7 + length);
    const plain = hasStream && head.includes('/FlateDecode') ? inflateSync(bytes) : bytes;
    objects.set(match[1] as string, { head, stream: hasStream ? plain.toString('latin1') : '' });
  }
  return objects;
}

function refOf(head: string, name: string): string {
  return new RegExp(`/${name} (\\d+) 0 R`).exec(head)?.[1] ?? '';
}

/** Glyph number → text. */
function glyphsOf(objects: Map<string, PdfObject>, font: string): string[] {
  const cmap = objects.get(refOf(objects.get(font)?.head ?? '', 'ToUnicode'))?.stream ?? '';
  return [...cmap.matchAll(/<[0-9a-f]{4}> <[0-9a-f]{4}> \[([^\]]*)\]/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/<([^>]*)>/g)].map(([, codes = '']) =>
      String.fromCharCode(...codes.split(' ').map((code) => Number.parseInt(code, 16))),
    ),
  );
}

export function readPdf(pdf: Buffer): { pages: number; texts: PdfText[] } {
  const objects = objectsOf(pdf);
  const pages = [...objects.values()].filter(({ head }) => /\/Type \/Page\n/.test(head));
  const texts = pages.flatMap(({ head }, index) => {
    const height = Number(/\/MediaBox \[0 0 [\d.]+ ([\d.]+)\]/.exec(head)?.[1]);
    const resources = objects.get(refOf(head, 'Resources'))?.head ?? '';
    const content = objects.get(refOf(head, 'Contents'))?.stream ?? '';
    return [
      ...content.matchAll(/1 0 0 1 ([\d.-]+) ([\d.-]+) Tm\n\/(F\d+) [\d.]+ Tf\n(?:.*\n)*?(\[.*\]) TJ/g),
    ].map(([, x, y, font = '', pieces = '']) => {
      const glyphs = glyphsOf(objects, refOf(resources, font));
      const codes = [...pieces.matchAll(/<([0-9a-f]+)>/g)].map(([, hex]) => hex).join('');
      const text = (codes.match(/.{4}/g) ?? []).map((code) => glyphs[Number.parseInt(code, 16)] ?? '?');
      return { page: index + 1, x: Number(x), y: height - Number(y), text: text.join('') };
    });
  });
  return { pages: pages.length, texts };
}
