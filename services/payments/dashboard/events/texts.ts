export const events = {
  title: 'Events',
  none: 'No events yet',
  noneNext: 'Every change of a payment or payment method leaves one.',
  type: 'Type',
  object: 'Object',
  at: 'At',
  id: 'Event',
  objectId: 'Object id',
  facts: 'About it',
  data: 'The object as it was then',
} as const;
