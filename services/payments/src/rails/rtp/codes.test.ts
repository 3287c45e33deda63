import { describe, expect, test } from 'vitest';
import { REJECT_REASONS, rejectReason, UNKNOWN_REJECT } from './codes.ts';

describe('reject codes', () => {
  test('about the account are final: ACH would fail, too', () => {
    for (const code of ['AC03', 'AC04', 'AC06', 'AC07', 'AC14', 'BE06', 'MD07', 'CUST']) {
      expect(rejectReason(code), code).toMatchObject({
        about: 'account',
        mayWorkElsewhere: false,
        temporary: false,
      });
    }
    for (const reason of REJECT_REASONS.values()) {
      if (reason.about === 'account') expect(reason.mayWorkElsewhere, reason.code).toBe(false);
    }
  });

  test('about banks, the network, limits and funds leave ACH open', () => {
    const codes = ['RC01', 'RC02', 'RC03', 'RC04', 'AG01', 'AG03', '9909', '9948', '9910', '9912', 'DS24'];
    for (const code of [...codes, 'AM02', 'AM13', 'AM14', 'AM04', 'TM01']) {
      const reason = rejectReason(code);
      expect(reason.mayWorkElsewhere, code).toBe(true);
      expect(['bank', 'network', 'limit', 'funds'], code).toContain(reason.about);
    }
  });

  test('that somebody decided, or that repeat a payment, leave nothing open', () => {
    for (const code of ['DUPL', 'NARR', 'BLKD', 'DS04', '1100'])
      expect(rejectReason(code).mayWorkElsewhere, code).toBe(false);
    expect(rejectReason('DUPL').about).toBe('duplicate');
  });

  test('that pass are those of absence and of funds', () => {
    for (const code of ['AM04', '9909', '9910', '9912', '9948', 'DS24', 'TM01']) {
      expect(rejectReason(code).temporary, code).toBe(true);
    }
    for (const code of ['RC04', 'AG01', 'AM13']) expect(rejectReason(code).temporary, code).toBe(false);
  });

  test('that are unknown or missing are final', () => {
    expect(rejectReason('zz99')).toEqual({ code: 'ZZ99', ...UNKNOWN_REJECT });
    expect(rejectReason(null)).toEqual({ code: '', ...UNKNOWN_REJECT });
    expect(UNKNOWN_REJECT).toMatchObject({ about: 'other', mayWorkElsewhere: false, temporary: false });
  });

  test('are found in any letter case, and are well formed', () => {
    expect(rejectReason('ac04')).toBe(rejectReason('AC04'));
    for (const [code, reason] of REJECT_REASONS) {
      expect(code).toMatch(/^[A-Z0-9]{4}$/);
      expect(reason.failureCode, code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
      expect(reason.title.length, code).toBeGreaterThan(10);
      if (reason.temporary) expect(reason.mayWorkElsewhere, code).toBe(true);
    }
  });
});
