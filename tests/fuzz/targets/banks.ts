import { strict as assert } from 'node:assert';
import { readNacha } from '../../../services/payments/src/rails/ach/nacha/read.ts';
import { repliesOf } from '../../../services/payments/src/rails/ach/nacha/replies.ts';
import { writeNacha } from '../../../services/payments/src/rails/ach/nacha/write.ts';
import { MESSAGE_CHARACTERS_MAX } from '../../../services/payments/src/rails/iso20022/xml.ts';
import { readMessage, readStatusReport } from '../../../services/payments/src/rails/rtp/messages/read.ts';
import { KIB, type Target } from '../fuzz.ts';

export const nacha: Target = {
  name: 'nacha',
  words: [
    '101 ',
    '5200',
    '6',
    '62',
    '799',
    '798',
    '820',
    '9000',
    '9'.repeat(94),
    '\n',
    '\r\n',
    ' ',
    '0',
    'R01',
    'C01',
  ],
  bytesMax: 256 * KIB,
  run(input) {
    const read = readNacha(input.toString('latin1'), { linesMax: 10_000, faultsMax: 1_000 });
    if (!read.ok) {
      assert(read.faults.length > 0 && read.faults.length <= 1_001, `${read.faults.length} faults`);
      return;
    }
    repliesOf(read.file);
    const again = readNacha(writeNacha(read.file));
    assert(again.ok, 'what was read cannot be written and read again');
    assert.deepEqual(again.file, read.file);
  },
};

export const iso20022: Target = {
  name: 'iso20022',
  words: [
    '<!DOCTYPE x [<!ENTITY a "b">]>',
    '&a;',
    '&#x10FFFF;',
    '&#0;',
    '<![CDATA[',
    '<?xml ?>',
    '<!--',
    '-->',
    ' xmlns:a="b"',
    '</',
    '/>',
    '<a>',
    ' a="',
  ],
  bytesMax: MESSAGE_CHARACTERS_MAX + KIB,
  run(input) {
    const xml = input.toString('utf8');
    for (const read of [readMessage, readStatusReport]) {
      const reading = read(xml);
      assert(reading.ok || typeof reading.refusal.reason === 'string');
      assert(!reading.ok || xml.length <= MESSAGE_CHARACTERS_MAX, 'longer than allowed');
    }
  },
};
