// The PDF is read back: what stands on it, and that it stands within the page.
import { describe, expect, test } from 'vitest';
import type { Invoice } from '../invoice.ts';
import { NO_DETAILS } from '../parties.ts';
import { readPdf } from '../test/pdf-text.ts';
import { renderInvoice } from './document.ts';
import { printInvoice } from './print.ts';

const seller = {
  issuer: {
    name: 'Toolhub',
    lines: ['1 Main Street', 'billing@toolhub.example', 'https://toolhub.example'],
    taxId: 'US12-3456789',
  },
  payment: {
    details: ['IBAN DE02 1203 0000 0000 2020 51', 'BIC BYLADEM1001'],
    url: 'https://pay.example/{number}?cents={amount_cents}',
  },
};
const invoice: Invoice = {
  customerId: 'cus_01',
  id: 'inv_01',
  number: 42,
  period: '2026-10',
  status: 'open',
  currency: 'USD',
  lines: [
    { platform: null, description: 'Starter plan, October 2026', quantity: 1, amountCents: 2_900 },
    { platform: 'email', description: 'E-mail: calls included', quantity: 50_000, amountCents: 0 },
    { platform: 'email', description: 'E-mail: calls beyond', quantity: 9_950_000, amountCents: 123_456_789 },
  ],
  totalCents: 123_459_689,
  billTo: { ...NO_DETAILS, name: 'Ada Lovelace', email: 'ada@example.com' },
  issuer: null,
  issuedAt: new Date('2026-11-01T00:10:03Z'),
  sentAt: null,
  paidAt: null,
};
const draw = async (changes: Partial<Invoice> = {}) => {
  const { pages, texts } = readPdf(await renderInvoice({ ...invoice, ...changes }, seller));
  return { pages, texts, all: texts.map(({ text }) => text).join('\n') };
};

describe('the PDF of an invoice', () => {
  test('has the address block, the facts, the lines, the total and the page number', async () => {
    const { pages, texts } = await draw();
    expect(pages).toBe(1);
    const said = texts.map(({ text }) => text.trim());
    for (const text of [
      ...['Toolhub', 'billing@toolhub.example', 'Billed to', 'Ada Lovelace', 'ada@example.com'],
      ...['INV-000042', '1 November 2026', 'October 2026', 'Due on receipt'],
      ...['Starter plan, October 2026', '29.00', '9,950,000', '1,234,567.89', 'Total USD', '1,234,596.89'],
      'Page 1 of 1',
    ])
      expect(said).toContain(text);
  });

  test('names both parties with address and tax id, and how to pay', async () => {
    const billTo = {
      ...{ name: 'Ada Lovelace', email: 'ada@example.com', company: 'Analytical Engines Ltd' },
      ...{ address: '12 St James Square\nLondon', taxId: 'GB123456789' },
    };
    const { all } = await draw({ billTo });
    for (const text of [
      ...['1 Main Street', 'Tax id US12-3456789', 'Analytical Engines Ltd', 'Ada Lovelace', 'London'],
      ...['12 St James Square', 'Tax id GB123456789', 'How to pay', 'IBAN DE02 1203 0000 0000 2020 51'],
      ...['Reference: INV-000042', 'https://pay.example/INV-000042?cents=123459689'],
    ])
      expect(all).toContain(text);
    const paid = await draw({ status: 'paid', paidAt: new Date('2026-11-05T09:00:00Z') });
    expect(paid.all).not.toContain('How to pay');
    const issuer = { name: 'The former name', lines: ['2 Old Road'], taxId: null };
    expect((await draw({ issuer })).all).toContain('2 Old Road');
  });

  test('the numbers of a column end at one edge', async () => {
    const { texts } = await draw();
    const row = (text: string) => texts.find((entry) => entry.text.trim() === text);
    expect(row('E-mail: calls beyond')?.y).toBeCloseTo(row('9,950,000')?.y as number, 1);
    expect(row('E-mail: calls beyond')?.y).toBeCloseTo(row('1,234,567.89')?.y as number, 1);
    // Digits of this font are equally wide: one digit more begins that much further left.
    const digit = (row('29.00')?.x as number) - (row('1,234,567.89')?.x as number);
    expect(digit).toBeGreaterThan(30);
  });

  test('long names wrap within their column, in whatever letters', async () => {
    const name = `${'Gesellschaft für außergewöhnlich lange Namen, Łódź, Αθήνα, Москва '.repeat(3)}`.trim();
    const email = `${'accounts.payable.'.repeat(3)}office@${'very-long-subdomain.'.repeat(5)}example.com`;
    const { texts, all, pages } = await draw({ billTo: { ...NO_DETAILS, name, email } });
    expect(pages).toBe(1);
    for (const word of name.split(' ')) expect(all).toContain(word);
    expect(all.replaceAll(/\s/g, '')).toContain(email);
    const block = texts.filter(({ x, page }) => page === 1 && x === 56);
    expect(block.length).toBeGreaterThan(8);
    // No two rows of the left edge lie on one another.
    const rows = block.map(({ y }) => y).sort((a, b) => a - b);
    for (const [index, y] of rows.slice(1).entries()) expect(y - (rows[index] as number)).toBeGreaterThan(8);
  });

  test('a name in letters that the font lacks says so, and the document holds it in full', async () => {
    const name = '株式会社ソニー & Müller';
    const { all } = await draw({ billTo: { ...NO_DETAILS, name, email: 'ada@example.com' } });
    expect(all).toContain('[Japanese] & Müller');
    expect(all.replaceAll(/\s+/g, ' ')).toContain('What is in brackets could not be printed');
    const pdf = await renderInvoice(
      { ...invoice, billTo: { ...NO_DETAILS, name, email: 'ada@example.com' } },
      seller,
    );
    expect(pdf.includes(Buffer.from(name, 'utf16le').swap16())).toBe(true);
    expect((await draw()).all).not.toContain('brackets');
  });

  test('many lines go on over pages with the heads of the columns, and nothing leaves the page', async () => {
    const lines = Array.from({ length: 120 }, (_, index) => ({
      platform: 'email',
      description: `Line ${index} of a platform with a description that is long enough to need a second row`,
      quantity: index + 1,
      amountCents: index,
    }));
    const { pages, texts, all } = await draw({ lines });
    expect(pages).toBeGreaterThan(3);
    for (let page = 1; page <= pages; page += 1) {
      const said = texts.filter((entry) => entry.page === page).map(({ text }) => text.trim());
      expect(said).toContain(`Page ${page} of ${pages}`);
      if (page < pages) expect(said).toContain('Description');
    }
    for (let index = 0; index < 120; index += 1) expect(all).toContain(`Line ${index} of a platform`);
    for (const { x, y } of texts) {
      expect(x).toBeGreaterThanOrEqual(55);
      expect(x).toBeLessThan(540);
      expect(y).toBeGreaterThan(40);
      expect(y).toBeLessThan(815);
    }
  });

  test('says what became of it, and is the same to the byte each time', async () => {
    expect((await draw({ status: 'paid', paidAt: new Date('2026-11-05T09:00:00Z') })).all).toContain(
      'Paid on 5 November 2026',
    );
    expect((await draw({ status: 'void' })).all).toContain('Void');
    expect((await draw({ status: 'paid', totalCents: 0 })).all).toContain('Nothing to pay');
    const [first, second] = await Promise.all([
      renderInvoice(invoice, seller),
      renderInvoice(invoice, seller),
    ]);
    expect(first.equals(second)).toBe(true);
    // Cyrillic letters that look like Latin ones share their glyphs.
    await draw({ billTo: { ...NO_DETAILS, name: 'АВЕКМНОРСТХ аеорсух', email: 'ada@example.com' } });
    expect((await renderInvoice(invoice, seller)).equals(first)).toBe(true);
  });
});

test('[TH-13.14] of invoices that are printed together one is drawn in each turn of the event loop', async () => {
  const seen: string[] = [];
  let isOver = false;
  const turn = () => {
    seen.push('turn');
    if (!isOver) setImmediate(turn);
  };
  const watched = {
    ...seller,
    get issuer() {
      seen.push('drawn');
      return seller.issuer;
    },
  };
  setImmediate(turn);
  await Promise.all(Array.from({ length: 8 }, () => printInvoice(invoice, watched)));
  isOver = true;
  expect(seen.filter((what) => what === 'drawn')).toHaveLength(8);
  expect(seen.join(' ')).not.toContain('drawn drawn');
});
