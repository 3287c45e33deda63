import { describe, expect, test } from 'vitest';
import { firstStatus, INVOICE_STATUSES, next } from './states.ts';

describe('states of an invoice', () => {
  test('the way of most: open, sent, paid', () => {
    expect(next('open', 'mail_sent')).toBe('sent');
    expect(next('sent', 'pay')).toBe('paid');
  });

  test('a mail that failed is tried again until it is sent', () => {
    expect(next('open', 'mail_failed')).toBe('failed_to_send');
    expect(next('failed_to_send', 'mail_failed')).toBe('failed_to_send');
    expect(next('failed_to_send', 'mail_sent')).toBe('sent');
  });

  test('paid and void are ends: neither becomes the other, and no mail moves them', () => {
    expect(next('paid', 'void')).toBeNull();
    expect(next('void', 'pay')).toBeNull();
    for (const status of ['paid', 'void'] as const)
      for (const event of ['mail_sent', 'mail_failed'] as const) expect(next(status, event)).toBe(status);
  });

  test('every status answers to every mail', () => {
    for (const status of INVOICE_STATUSES)
      for (const event of ['mail_sent', 'mail_failed'] as const) expect(next(status, event)).not.toBeNull();
  });

  test('nothing is owed for a total of zero', () => {
    expect(firstStatus(0)).toBe('paid');
    expect(firstStatus(1)).toBe('open');
  });
});
