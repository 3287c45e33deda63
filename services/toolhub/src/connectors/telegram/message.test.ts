import { expect, test } from 'vitest';
import { readMessage } from './message.ts';

const message = { message_id: 5, date: 1_793_600_000, chat: { id: 77, type: 'private', first_name: 'Ada' } };

test.each([
  ['video_note', { video_note: {} }],
  ['poll', { poll: { question: 'When?' } }],
  ['dice', { dice: { value: 6 } }],
  ['story', { story: {} }],
  ['paid_media', { paid_media: {} }],
  // What Telegram also says for programs of before is not the kind.
  ['animation', { document: {}, animation: {} }],
  ['venue', { location: {}, venue: {} }],
  ['location', { location: {} }],
  [null, { text: 'hi' }],
])('the kind of what is attached: %s', (media, content) => {
  expect(readMessage({ ...message, ...content }).media).toBe(media);
});
