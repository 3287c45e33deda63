import { readFileSync } from 'node:fs';
import Document, { type ParsedFont, type PDFDocument, type TextOptions } from 'pdfkit';
import { formatNumber, type Invoice, type InvoiceLine, isOwed } from '../invoice.ts';
import { formatAmount, formatCount } from '../money.ts';
import { addressLines, type Issuer, type PaymentWays, paymentUrl, type Seller } from '../parties.ts';
import { dateTitle, periodTitle } from '../period.ts';
import { type Printable, toPrintable } from './printable.ts';

// Fonts that are embedded print the same everywhere, and they have letters that the fonts of every PDF reader lack:
// Greek, Cyrillic, Hebrew, and all of Latin.
const fonts = { regular: parseFont('Regular'), bold: parseFont('Bold') };

/** Parsed once: with the files, each document took 67 ms of a core, with the parsed fonts 19. */
function parseFont(style: 'Regular' | 'Bold'): ParsedFont {
  const file = readFileSync(new URL(`./fonts/LiberationSans-${style}.ttf`, import.meta.url));
  const document = new Document({ autoFirstPage: false, font: null }).registerFont(style, file).font(style);
  return document._font.font;
}

const PAGE = { left: 56, right: 539, top: 56, bottom: 770, footer: 796 };
const WIDTH = PAGE.right - PAGE.left;
const QUANTITY_WIDTH = 78;
const AMOUNT_WIDTH = 84;
const GAP = 12;
const DESCRIPTION_WIDTH = WIDTH - QUANTITY_WIDTH - AMOUNT_WIDTH - 2 * GAP;
const BLOCK_WIDTH = 230;
const FACTS_LABEL_WIDTH = 80;
const ROW_PADDING = 6;
const INK = '#1a1a1a';
const FAINT = '#666666';
const RULE = '#cccccc';

/**
 * The same invoice gives the same bytes: times come from it and not from the clock. Everything is drawn in one go, since
 * documents share the parsed fonts.
 */
export async function renderInvoice(invoice: Invoice, seller: Seller): Promise<Buffer> {
  const issuer = invoice.issuer ?? seller.issuer;
  const document = newDocument(invoice, issuer);
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  const finished = new Promise<void>((resolve, reject) => {
    document.on('end', resolve);
    document.on('error', reject);
  });
  const bottom = drawHead(document, invoice, issuer);
  const end = drawLines(document, invoice.lines, bottom + 28);
  const total = drawTotal(document, invoice, end);
  if (isOwed(invoice)) drawPayment(document, invoice, seller.payment, total + 30);
  drawFooters(document, invoice, issuer);
  document.end();
  await finished;
  return Buffer.concat(chunks);
}

function newDocument(invoice: Invoice, issuer: Issuer): PDFDocument {
  const document = new Document({
    size: 'A4',
    // Breaks are made below, between rows; the library would make them in the middle of one.
    margins: { top: 0, right: 0, bottom: 0, left: 0 },
    info: {
      Title: `Invoice ${formatNumber(invoice.number)}`,
      Author: issuer.name,
      Subject: periodTitle(invoice.period),
      // Here the name is complete, whatever its letters are.
      Keywords: invoice.billTo.name,
      CreationDate: invoice.issuedAt,
      ModDate: invoice.issuedAt,
    },
    lang: 'en',
    displayTitle: true,
    bufferPages: true,
    font: null,
  });
  // A Latin M and a Cyrillic one are one glyph, which would keep the letter that an earlier document used it for.
  for (const font of [fonts.regular, fonts.bold]) font._glyphs = {};
  return document.registerFont('regular', fonts.regular).registerFont('bold', fonts.bold);
}

interface Place {
  x: number;
  y: number;
  width: number;
}

interface Look {
  font?: 'regular' | 'bold';
  size?: number;
  color?: string;
  align?: 'left' | 'right';
}

function printable(text: string, font: 'regular' | 'bold' = 'regular'): Printable {
  return toPrintable(text, (codePoint) => fonts[font].hasGlyphForCodePoint(codePoint));
}

const LINE_GAP = 2;

/** Writes a text that wraps within its width and returns where it ends. */
function write(document: PDFDocument, text: string, { x, y, width }: Place, look: Look = {}): number {
  const options: TextOptions = { width, align: look.align ?? 'left', lineGap: LINE_GAP };
  const font = look.font ?? 'regular';
  document
    .font(font)
    .fontSize(look.size ?? 10)
    .fillColor(look.color ?? INK);
  const shown = printable(text, font).text;
  const height = document.heightOfString(shown, options);
  document.text(shown, x, y, options);
  return y + height;
}

function rule(document: PDFDocument, y: number, color = RULE): void {
  document.strokeColor(color).lineWidth(0.75).moveTo(PAGE.left, y).lineTo(PAGE.right, y).stroke();
}

const INCOMPLETE_NAME = 'What is in brackets could not be printed; the account has the full name.';

function drawHead(document: PDFDocument, invoice: Invoice, issuer: Issuer): number {
  const right = PAGE.right - BLOCK_WIDTH;
  const title: Look = { font: 'bold', size: 22, align: 'right' };
  write(document, 'Invoice', { x: right, y: PAGE.top, width: BLOCK_WIDTH }, title);
  let left = write(
    document,
    issuer.name,
    { x: PAGE.left, y: PAGE.top, width: BLOCK_WIDTH },
    { font: 'bold', size: 14 },
  );
  left += 4;
  const faint: Look = { size: 9, color: FAINT };
  for (const line of [...issuer.lines, ...(issuer.taxId === null ? [] : [`Tax id ${issuer.taxId}`])])
    left = write(document, line, { x: PAGE.left, y: left, width: BLOCK_WIDTH }, faint);

  const blocks = Math.max(left, PAGE.top + 40) + 28;
  const label: Look = { font: 'bold', size: 9, color: FAINT };
  let address = write(document, 'Billed to', { x: PAGE.left, y: blocks, width: BLOCK_WIDTH }, label) + 3;
  const place = (y: number) => ({ x: PAGE.left, y, width: BLOCK_WIDTH });
  const { name, email, company, taxId } = invoice.billTo;
  address = write(document, company ?? name, place(address), { font: 'bold', size: 11 });
  const taxLines = taxId === null ? [] : [`Tax id ${taxId}`];
  const people = company === null ? [] : [name];
  for (const line of [...people, ...addressLines(invoice.billTo.address), ...taxLines, email])
    address = write(document, line, place(address));
  const small: Look = { size: 8, color: FAINT };
  address = write(document, `Customer ${invoice.customerId}`, place(address), small);
  if (
    ![company ?? name, name, invoice.billTo.address ?? ''].every((text) => printable(text, 'bold').isComplete)
  )
    address = write(document, INCOMPLETE_NAME, place(address), small);
  return Math.max(address, drawFacts(document, invoice, { x: right, y: blocks, width: BLOCK_WIDTH }));
}

function drawFacts(document: PDFDocument, invoice: Invoice, { x, y, width }: Place): number {
  const facts = [
    ['Number', formatNumber(invoice.number)],
    ['Issued', dateTitle(invoice.issuedAt)],
    ['Period', periodTitle(invoice.period)],
    ['Payment', paymentOf(invoice)],
  ] as const;
  let end = y;
  for (const [name, value] of facts) {
    write(document, name, { x, y: end, width: FACTS_LABEL_WIDTH }, { color: FAINT });
    const rest = { x: x + FACTS_LABEL_WIDTH, y: end, width: width - FACTS_LABEL_WIDTH };
    end = write(document, value, rest, { align: 'right' }) + 3;
  }
  return end;
}

function paymentOf(invoice: Invoice): string {
  if (invoice.status === 'void') return 'Void';
  if (invoice.totalCents === 0) return 'Nothing to pay';
  return invoice.paidAt === null ? 'Due on receipt' : `Paid on ${dateTitle(invoice.paidAt)}`;
}

const QUANTITY_X = PAGE.left + DESCRIPTION_WIDTH + GAP;
const AMOUNT_X = QUANTITY_X + QUANTITY_WIDTH + GAP;

function drawColumns(document: PDFDocument, y: number): number {
  const look: Look = { font: 'bold', size: 9, color: FAINT };
  write(document, 'Description', { x: PAGE.left, y, width: DESCRIPTION_WIDTH }, look);
  write(document, 'Quantity', { x: QUANTITY_X, y, width: QUANTITY_WIDTH }, { ...look, align: 'right' });
  const end = write(
    document,
    'Amount (USD)',
    { x: AMOUNT_X, y, width: AMOUNT_WIDTH },
    { ...look, align: 'right' },
  );
  rule(document, end + 4, INK);
  return end + 4 + ROW_PADDING;
}

function drawLines(document: PDFDocument, lines: readonly InvoiceLine[], start: number): number {
  let y = drawColumns(document, start);
  for (const line of lines) {
    document.font('regular').fontSize(10);
    const description = printable(line.description).text;
    const height = document.heightOfString(description, { width: DESCRIPTION_WIDTH, lineGap: LINE_GAP });
    if (y + height > PAGE.bottom) {
      document.addPage();
      y = drawColumns(document, PAGE.top);
    }
    const number = { align: 'right' } as const;
    write(document, formatCount(line.quantity), { x: QUANTITY_X, y, width: QUANTITY_WIDTH }, number);
    write(document, formatAmount(line.amountCents), { x: AMOUNT_X, y, width: AMOUNT_WIDTH }, number);
    y = write(document, line.description, { x: PAGE.left, y, width: DESCRIPTION_WIDTH }) + ROW_PADDING - 2;
    rule(document, y);
    y += ROW_PADDING;
  }
  return y;
}

const TOTAL_HEIGHT = 48;

function drawTotal(document: PDFDocument, invoice: Invoice, start: number): number {
  let y = start + 6;
  if (y + TOTAL_HEIGHT > PAGE.bottom) {
    document.addPage();
    y = PAGE.top;
  }
  const label = { x: PAGE.left + WIDTH / 2, y, width: AMOUNT_X - GAP - PAGE.left - WIDTH / 2 };
  const look: Look = { font: 'bold', size: 12, align: 'right' };
  write(document, `Total ${invoice.currency}`, label, look);
  return write(document, formatAmount(invoice.totalCents), { x: AMOUNT_X, y, width: AMOUNT_WIDTH }, look);
}

const PAYMENT_LABEL = 'How to pay';
const PAYMENT_HEAD = 16;

/** Bank details, a page to pay at, and what to say with the money; nothing where the operator set neither. */
function drawPayment(document: PDFDocument, invoice: Invoice, ways: PaymentWays, start: number): void {
  const number = formatNumber(invoice.number);
  const url = paymentUrl(ways, { number, amountCents: invoice.totalCents });
  if (ways.details.length === 0 && url === null) return;
  const lines = [...ways.details, `Reference: ${number}`, ...(url === null ? [] : [url])];
  document.font('regular').fontSize(10);
  const heights = lines.map((line) => document.heightOfString(line, { width: WIDTH, lineGap: LINE_GAP }));
  const height = heights.reduce((sum, each) => sum + each, 0) + PAYMENT_HEAD;
  let y = start;
  if (y + height > PAGE.bottom) {
    document.addPage();
    y = PAGE.top;
  }
  const place = () => ({ x: PAGE.left, y, width: WIDTH });
  y = write(document, PAYMENT_LABEL, place(), { font: 'bold', size: 9, color: FAINT }) + 3;
  for (const line of lines) {
    const top = y;
    y = write(document, line, place());
    if (line === url) document.link(PAGE.left, top, WIDTH, y - top, url);
  }
}

function drawFooters(document: PDFDocument, invoice: Invoice, issuer: Issuer): void {
  const { start, count } = document.bufferedPageRange();
  for (let page = 0; page < count; page += 1) {
    document.switchToPage(start + page);
    const y = PAGE.footer;
    const look: Look = { size: 8, color: FAINT };
    write(
      document,
      `${issuer.name} · ${formatNumber(invoice.number)}`,
      { x: PAGE.left, y, width: WIDTH / 2 },
      look,
    );
    write(
      document,
      `Page ${page + 1} of ${count}`,
      { x: PAGE.left + WIDTH / 2, y, width: WIDTH / 2 },
      { ...look, align: 'right' },
    );
  }
}
