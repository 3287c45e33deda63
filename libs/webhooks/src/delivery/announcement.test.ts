import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { announce, announceOff, LOOK_EVERYWHERE, readAnnouncement } from './announcement.ts';

const ref = fc.record({
  tenantId: fc.string({ unit: 'grapheme', maxLength: 60 }),
  endpointId: fc.string({ unit: 'grapheme', maxLength: 60 }),
});

describe('announce', () => {
  it('names every endpoint once, in messages that Postgres carries', () => {
    fc.assert(
      fc.property(fc.array(ref, { maxLength: 150 }), (refs) => {
        const messages = announce([...refs, ...refs]);
        for (const message of messages) expect(Buffer.byteLength(message)).toBeLessThan(8_000);
        const read = messages.flatMap((message) => readAnnouncement(message) ?? []);
        const unique = new Set(refs.map((one) => JSON.stringify([one.tenantId, one.endpointId])));
        expect(new Set(read.map((one) => JSON.stringify([one.tenantId, one.endpointId])))).toEqual(unique);
        expect(read).toHaveLength(unique.size);
      }),
    );
  });

  it('says to look everywhere when there is too much to name', () => {
    const many = Array.from({ length: 201 }, (_, index) => ({ tenantId: 't', endpointId: `e${index}` }));
    expect(announce(many)).toEqual([LOOK_EVERYWHERE]);
    expect(announce([{ tenantId: 't', endpointId: 'e'.repeat(9_000) }])).toEqual([LOOK_EVERYWHERE]);
  });
});

describe('readAnnouncement', () => {
  it('tells an endpoint that was switched off from one with new rows', () => {
    const one = { tenantId: 't', endpointId: 'e' };
    expect(readAnnouncement(announceOff(one))).toEqual([{ ...one, isOff: true }]);
    expect(readAnnouncement(announce([one])[0] ?? '')).toEqual([one]);
  });

  it('takes what it cannot read as a reason to look everywhere', () => {
    for (const message of [LOOK_EVERYWHERE, '', 'x', '{}', '1', '[1]', '[["a"]]', '[[1,2]]']) {
      expect(readAnnouncement(message)).toBeUndefined();
    }
  });
});
