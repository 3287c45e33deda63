/** The part of the library that this service uses; the package ships no types of its own. */
declare module 'pdfkit' {
  import type { Readable } from 'node:stream';

  export interface TextOptions {
    width?: number;
    align?: 'left' | 'right';
    lineBreak?: boolean;
    lineGap?: number;
  }

  /** A font as the library's own parser gives it; it is taken wherever a file is. */
  export interface ParsedFont {
    layout(text: string): unknown;
    hasGlyphForCodePoint(codePoint: number): boolean;
    /** Glyphs that were used before, each with the characters that it stood for the first time. */
    _glyphs: Record<number, unknown>;
  }

  export interface DocumentOptions {
    size?: string;
    margins?: { top: number; right: number; bottom: number; left: number };
    info?: {
      Title: string;
      Author: string;
      Subject: string;
      Keywords: string;
      CreationDate: Date;
      ModDate: Date;
    };
    lang?: string;
    displayTitle?: boolean;
    bufferPages?: boolean;
    autoFirstPage?: boolean;
    /** Null: none is opened before one is asked for. */
    font: null;
  }

  export interface PDFDocument extends Readable {
    /** The font in use. */
    readonly _font: { readonly font: ParsedFont };
    registerFont(name: string, source: Buffer | ParsedFont): this;
    font(name: string): this;
    fontSize(size: number): this;
    fillColor(color: string): this;
    strokeColor(color: string): this;
    lineWidth(width: number): this;
    moveTo(x: number, y: number): this;
    lineTo(x: number, y: number): this;
    stroke(): this;
    text(text: string, x: number, y: number, options?: TextOptions): this;
    heightOfString(text: string, options: TextOptions): number;
    link(x: number, y: number, width: number, height: number, url: string): this;
    addPage(): this;
    switchToPage(index: number): unknown;
    bufferedPageRange(): { start: number; count: number };
    end(): void;
  }

  const Document: new (options: DocumentOptions) => PDFDocument;

  // biome-ignore lint/style/noDefaultExport: this is how the library exports it.
  export default Document;
}
