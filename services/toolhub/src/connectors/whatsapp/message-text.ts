import { type Fields, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';

const ENTRIES_MAX = 50;

/** What a person said, whichever kind of message it is in; null where that is no text. */
export function textOfMessage(message: Fields, caption: unknown): string | null {
  const part = (name: string) => fieldsOf(message[name]);
  const { button_reply, list_reply, nfm_reply } = part('interactive');
  const text = [
    ...[part('text').body, caption, part('button').text],
    ...[fieldsOf(button_reply).title, fieldsOf(list_reply).title],
    textOfForm(fieldsOf(nfm_reply)),
    textOfPlace(part('location')),
    joined(listOf(message.contacts).slice(0, ENTRIES_MAX).map(textOfContact)),
    textOfOrder(part('order')),
    part('system').body,
  ].find((value) => typeof value === 'string' && value !== '');
  return textOrNull(text);
}

/** The answer to a form: what the person sees of it, and what was filled in. */
function textOfForm({ body, response_json }: Fields): string {
  return joined([body, response_json]);
}

function textOfPlace({ name, address, latitude, longitude }: Fields): string {
  const isPlace = typeof latitude === 'number' && typeof longitude === 'number';
  return joined([name, address, isPlace ? `${latitude}, ${longitude}` : null]);
}

function textOfContact(value: unknown): string {
  const { name, phones, emails } = fieldsOf(value);
  const found = (list: unknown, field: string) =>
    listOf(list)
      .slice(0, ENTRIES_MAX)
      .map((entry) => fieldsOf(entry)[field]);
  return [fieldsOf(name).formatted_name, ...found(phones, 'phone'), ...found(emails, 'email')]
    .filter((one) => typeof one === 'string' && one !== '')
    .join(' ');
}

function textOfOrder({ text, product_items }: Fields): string {
  const lines = listOf(product_items)
    .slice(0, ENTRIES_MAX)
    .map((item) => {
      const { product_retailer_id: id, quantity, item_price, currency } = fieldsOf(item);
      return typeof id === 'string' ? `${quantity} × ${id} (${item_price} ${currency})` : '';
    });
  return joined([text, ...lines]);
}

function joined(parts: readonly unknown[]): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join('\n');
}
