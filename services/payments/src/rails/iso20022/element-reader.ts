import { isDate, isDateTime, type NetworkDate, type NetworkDateTime } from './network-time.ts';
import { MessageRefused } from './refusal.ts';
import type { XmlElement } from './xml.ts';

export type Accepts = (text: string) => boolean;

const AMOUNT = /^(\d{1,14})(?:\.(\d{1,2}))?$/;

/**
 * Takes the children of an element one after the other, in the order that the schema sets. What is not
 * taken when the reader is finished, or stands in another place, is refused.
 */
export class ElementReader {
  readonly #element: XmlElement;
  readonly #parent: ElementReader | null;
  readonly #namespace: string;
  #next = 0;

  /** `namespace` is that of the children, and given where it is not the element's own. */
  constructor(element: XmlElement, parent: ElementReader | null, namespace = element.namespace) {
    if (element.attributes !== null) {
      throw new MessageRefused('unexpected_attribute', pathOf(parent, element.name));
    }
    this.#element = element;
    this.#parent = parent;
    this.#namespace = namespace;
  }

  group<T>(name: string, read: (group: ElementReader) => T, childNamespace = this.#namespace): T {
    const group = new ElementReader(this.#take(name), this, childNamespace);
    const result = read(group);
    group.finish();
    return result;
  }

  optionalGroup<T>(name: string, read: (group: ElementReader) => T): T | null {
    return this.isNext(name) ? this.group(name, read) : null;
  }

  text(name: string, accepts: Accepts): string {
    const { attributes, children, text } = this.#take(name);
    if (attributes !== null) throw new MessageRefused('unexpected_attribute', this.#path(name));
    return children.length === 0 && accepts(text) ? text : this.#refuse(name);
  }

  optionalText(name: string, accepts: Accepts): string | null {
    return this.isNext(name) ? this.text(name, accepts) : null;
  }

  dateTime(name: string): NetworkDateTime {
    return this.text(name, isDateTime);
  }

  date(name: string): NetworkDate {
    return this.text(name, isDate);
  }

  /** An amount in US dollars, as cents. */
  amount(name: string): number {
    const element = this.#take(name);
    if (element.attributes?.size !== 1 || element.attributes.get('Ccy') !== 'USD') this.#refuse(name);
    const parts = element.children.length === 0 ? AMOUNT.exec(element.text) : null;
    if (parts === null) return this.#refuse(name);
    const cents = Number(parts[1]) * 100 + Number((parts[2] ?? '').padEnd(2, '0'));
    return Number.isSafeInteger(cents) && cents > 0 ? cents : this.#refuse(name);
  }

  /** Passes over optional elements that the schema knows and the product has no use for. */
  skip(name: string, timesMax = 1): void {
    for (let times = 0; times < timesMax && this.isNext(name); times += 1) this.#next += 1;
  }

  isNext(name: string): boolean {
    const next = this.#element.children[this.#next];
    return next?.name === name && next.namespace === this.#namespace;
  }

  nextName(): string | null {
    return this.#element.children[this.#next]?.name ?? null;
  }

  /** An element without any content, as the headers of blank samples have them. */
  isNextBlank(): boolean {
    const next = this.#element.children[this.#next];
    return next?.children.length === 0 && next.text === '';
  }

  finish(): void {
    const { children, text, name } = this.#element;
    const next = children[this.#next];
    if (next !== undefined) throw new MessageRefused('unexpected_element', this.#path(next.name));
    if (children.length === 0 && text.trim() !== '')
      throw new MessageRefused('invalid_value', this.#path(name));
  }

  #take(name: string): XmlElement {
    const next = this.#element.children[this.#next];
    if (next === undefined) throw new MessageRefused('missing_element', this.#path(name));
    if (next.name !== name) {
      throw new MessageRefused('unexpected_element', `${this.#path(next.name)} where ${name} belongs`);
    }
    if (next.namespace !== this.#namespace) throw new MessageRefused('wrong_namespace', this.#path(name));
    this.#next += 1;
    return next;
  }

  #refuse(name: string): never {
    throw new MessageRefused('invalid_value', this.#path(name));
  }

  #path(name: string): string {
    return pathOf(this, name);
  }

  static pathOf(reader: ElementReader): string {
    return pathOf(reader.#parent, reader.#element.name);
  }
}

function pathOf(parent: ElementReader | null, name: string): string {
  return parent === null ? name : `${ElementReader.pathOf(parent)}/${name}`;
}

/** Lengths count characters, as schemas do, not UTF-16 units. */
export function textUpTo(lengthMax: number): Accepts {
  return (text) => text.length > 0 && (text.length <= lengthMax || [...text].length <= lengthMax);
}

export function oneOf(...values: readonly string[]): Accepts {
  return (text) => values.includes(text);
}

export function matching(pattern: RegExp): Accepts {
  return (text) => pattern.test(text);
}
