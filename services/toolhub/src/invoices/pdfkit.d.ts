/** The part of the library that this service uses; the package ships no types of its own. */
declare module 'pdfkit' {
  import type { Readable } from 'node:stream';

  export interface TextOptions {
    width?: number;
    align?: 'left' | 'right';
    lineBreak?: boolean;
    lineGap?: number;
  }

  export interface DocumentOptions {
    size: string;
    margins: { top: number; right: number; bottom: number; left: number };
    info: { Title: string; Author: string; Subject: string; CreationDate: Date; ModDate: Date };
    lang: string;
    displayTitle: boolean;
    bufferPages: boolean;
    font: Buffer | null;
  }

  interface PDFDocument extends Readable {
    readonly page: { readonly width: number; readonly height: number };
    registerFont(name: string, source: Buffer): this;
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
    widthOfString(text: string): number;
    addPage(): this;
    switchToPage(index: number): unknown;
    bufferedPageRange(): { start: number; count: number };
    end(): void;
  }

  const Document: new (options: DocumentOptions) => PDFDocument;
  export default Document;
}
