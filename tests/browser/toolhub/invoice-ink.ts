// An invoice as it is printed.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'vitest';

const run = promisify(execFile);
const PDFTOPPM = '/usr/bin/pdftoppm';
const DOTS_PER_INCH = 40;
const DARK = 128;

/** There is ink in the corners where the parties, the total and the way to pay stand. */
export async function lookAtInvoice(pdf: Buffer): Promise<void> {
  if (!existsSync(PDFTOPPM)) return;
  const child = run(PDFTOPPM, ['-gray', '-r', String(DOTS_PER_INCH), '-singlefile', '-'], {
    encoding: 'buffer',
    maxBuffer: 1_000_000,
  });
  child.child.stdin?.end(pdf);
  const { stdout } = await child;
  const [head = '', width = 0, height = 0] = /^P5\s(\d+) (\d+)\s255\s/.exec(stdout.toString('latin1')) ?? [];
  const pixels = stdout.subarray(head.length);
  const ink = (left: number, top: number, right: number, bottom: number) => {
    let dark = 0;
    for (let y = Math.floor(top * Number(height)); y < bottom * Number(height); y += 1)
      for (let x = Math.floor(left * Number(width)); x < right * Number(width); x += 1)
        if ((pixels[y * Number(width) + x] ?? 255) < DARK) dark += 1;
    return dark;
  };
  expect(ink(0, 0, 0.5, 0.15), 'the seller').toBeGreaterThan(20);
  expect(ink(0, 0.15, 0.5, 0.35), 'the customer').toBeGreaterThan(20);
  expect(ink(0.5, 0.3, 1, 0.6), 'the total').toBeGreaterThan(20);
  expect(ink(0, 0.4, 0.6, 0.75), 'how to pay').toBeGreaterThan(20);
  expect(ink(0, 0, 0.05, 1) + ink(0.95, 0, 1, 1), 'the margins').toBe(0);
}
