import { expect, test } from 'vitest';
import { ATTACHMENT_BYTES_TOTAL_MAX, composeMail } from './compose.ts';

function compose(...sizes: number[]) {
  const attachments = sizes.map((size) => ({
    ...{ filename: 'a.bin', content_type: 'application/octet-stream' },
    content_base64: Buffer.alloc(size).toString('base64'),
  }));
  return composeMail({
    ...{ from: 'me@example.com', to: ['you@example.com'], subject: 's', text: 't', attachments },
    ...{ date: new Date(0), newMessageId: () => '<id@example.com>' },
  });
}

test('attachments are counted by what they hold, whatever their base64 is filled up with', () => {
  expect(compose(ATTACHMENT_BYTES_TOTAL_MAX).attachments).toHaveLength(1);
  expect(compose(ATTACHMENT_BYTES_TOTAL_MAX - 2, 1, 1).attachments).toHaveLength(3);
  for (const sizes of [[ATTACHMENT_BYTES_TOTAL_MAX + 1], [ATTACHMENT_BYTES_TOTAL_MAX - 2, 1, 2]])
    expect(() => compose(...sizes)).toThrow('attachments hold more than 10485760 bytes');
});
