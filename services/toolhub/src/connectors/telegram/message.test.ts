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

test.each<[object, string | null]>([
  [{ text: 'hi', poll: { question: 'x' } }, 'hi'],
  [{ caption: 'look', photo: [] }, 'look'],
  [{ poll: { question: 'When?', options: [{ text: 'Mon' }, { text: 'Tue' }, 7] } }, 'When?\n- Mon\n- Tue'],
  [{ contact: { first_name: 'Ada', last_name: 'L', phone_number: '+491' } }, 'Ada L +491'],
  [{ location: { latitude: 52.5, longitude: 13.4 } }, '52.5, 13.4'],
  [
    {
      location: { latitude: 1, longitude: 2 },
      venue: { title: 'Café', address: 'Street 1', location: { latitude: 1, longitude: 2 } },
    },
    'Café\nStreet 1\n1, 2',
  ],
  [{ checklist: { title: 'To do', tasks: [{ id: 1, text: 'milk' }] } }, 'To do\n- milk'],
  [{ dice: { emoji: '🎯', value: 6 } }, '🎯 6'],
  [{ invoice: { title: 'Book', description: 'Used' } }, 'Book\nUsed'],
  [{ sticker: { emoji: '👍' } }, '👍'],
  [{ contact: { first_name: 'A\u0000da' } }, 'A\ufffdda'],
  [{ photo: [] }, null],
  [{ poll: 'x', venue: [], dice: null }, null],
])('what people see of a message is its text: %j', (content, text) => {
  expect(readMessage({ ...message, ...content }).text).toBe(text);
});
