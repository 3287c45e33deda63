import { fieldsOf, listOf } from '../vendor-api/shape.ts';
import { textOrNull } from './api.ts';

type Fields = Readonly<Record<string, unknown>>;

const ENTRIES_MAX = 50;

/** What a person said, whichever kind of message it is in; null where that is no text. */
export function textOfMessage(message: Fields): string | null {
  return (
    textOrNull(message.text) ??
    textOrNull(message.caption) ??
    ([
      ...[textOfVenue(fieldsOf(message.venue)), textOfPoint(message.location)],
      ...[textOfContact(fieldsOf(message.contact)), textOfPoll(fieldsOf(message.poll))],
      ...[textOfChecklist(fieldsOf(message.checklist)), textOfDice(fieldsOf(message.dice))],
      ...[textOfOffer(message.game), textOfOffer(message.invoice)],
      textOrNull(fieldsOf(message.sticker).emoji) ?? '',
    ].find((text) => text !== '') ||
      null)
  );
}

function textOfPoint(point: unknown): string {
  const { latitude, longitude } = fieldsOf(point);
  return typeof latitude === 'number' && typeof longitude === 'number' ? `${latitude}, ${longitude}` : '';
}

function textOfVenue({ title, address, location }: Fields): string {
  return joined([title, address, textOfPoint(location)]);
}

function textOfContact({ first_name, last_name, phone_number }: Fields): string {
  return joined([first_name, last_name, phone_number], ' ');
}

function textOfPoll({ question, options }: Fields): string {
  return joined([question, ...bulletsOf(options)]);
}

function textOfChecklist({ title, tasks }: Fields): string {
  return joined([title, ...bulletsOf(tasks)]);
}

function bulletsOf(list: unknown): string[] {
  return listOf(list)
    .slice(0, ENTRIES_MAX)
    .map((entry) => textOrNull(fieldsOf(entry).text))
    .flatMap((text) => (text === null ? [] : [`- ${text}`]));
}

function textOfDice({ emoji, value }: Fields): string {
  return joined([emoji, typeof value === 'number' ? String(value) : null], ' ');
}

/** A game, or something for sale. */
function textOfOffer(offer: unknown): string {
  const { title, description } = fieldsOf(offer);
  return joined([title, description]);
}

function joined(parts: readonly unknown[], between = '\n'): string {
  return parts
    .map(textOrNull)
    .filter((part) => part !== null && part !== '')
    .join(between);
}
