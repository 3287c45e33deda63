/** The reader of XML, held against a library that reads all of it. */

import { processorMs } from '@libs/runtime/testing';
import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, test } from 'vitest';
import { MessageRefused } from './refusal.ts';
import { ELEMENT_DEPTH_MAX, escapeText, MESSAGE_CHARACTERS_MAX, scanXml, type XmlElement } from './xml.ts';

interface Tree {
  readonly tag: string;
  readonly attributes: Record<string, string>;
  readonly content: string | readonly Tree[];
}

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,6}$/);
const value = fc.string({ unit: fc.constantFrom(...'aé &<>"\'\n;#😀'), maxLength: 8 });
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    tag: name,
    attributes: fc.dictionary(
      name.filter((text) => !text.startsWith('xmlns')),
      value,
      { maxKeys: 3 },
    ),
    content: fc.oneof({ maxDepth: 4 }, value, fc.array(tie('tree'), { maxLength: 3 })),
  }),
}));

function write({ tag, attributes, content }: Tree): string {
  const written = Object.entries(attributes).map(([key, text]) => ` ${key}="${attributeText(text)}"`);
  const inner = typeof content === 'string' ? escapeText(content) : content.map(write).join('');
  return `<${tag}${written.join('')}>${inner}</${tag}>`;
}

function attributeText(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;');
}

function asTree(element: XmlElement): Tree {
  const content = element.children.length > 0 ? element.children.map(asTree) : element.text;
  return { tag: element.name, attributes: Object.fromEntries(element.attributes ?? []), content };
}

function plain(source: Tree): Tree {
  const { content } = source;
  if (typeof content === 'string') return { ...source, attributes: { ...source.attributes } };
  return {
    ...source,
    attributes: { ...source.attributes },
    content: content.length === 0 ? '' : content.map(plain),
  };
}

const library = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  trimValues: false,
  htmlEntities: true,
});

type LibraryNode = Record<string, unknown>;

function fromLibrary(node: LibraryNode): Tree {
  const tag = Object.keys(node).find((key) => key !== ':@') as string;
  const inner = node[tag] as LibraryNode[];
  const elements = inner.filter((child) => !('#text' in child));
  const text = inner.map((child) => child['#text'] ?? '').join('');
  const attributes = { ...(node[':@'] as Record<string, string> | undefined) };
  return { tag, attributes, content: elements.length > 0 ? elements.map(fromLibrary) : text };
}

function reasonOf(xml: string): string {
  try {
    scanXml(xml);
  } catch (error) {
    if (error instanceof MessageRefused) return error.refusal.reason;
    throw error;
  }
  return 'read';
}

describe('scanXml', () => {
  test('reads what was written', () => {
    fc.assert(
      fc.property(tree, (source) => {
        expect(asTree(scanXml(write(source)))).toEqual(plain(source));
      }),
    );
  });

  test('reads what the library reads', () => {
    fc.assert(
      fc.property(tree, (source) => {
        const xml = write(source);
        const [root] = library.parse(xml) as LibraryNode[];
        expect(asTree(scanXml(xml))).toEqual(fromLibrary(root as LibraryNode));
      }),
    );
  });

  test('reads nothing that the library holds for broken', () => {
    const edit = fc.tuple(
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.constantFrom('', '<', '>', '/', '&', '"', ' ', '=', 'a', '</'),
    );
    let read = 0;
    fc.assert(
      fc.property(tree, edit, (source, [place, remove, insert]) => {
        const whole = write(source);
        const at = place % whole.length;
        const xml = whole.slice(0, at) + insert + whole.slice(at + remove);
        if (reasonOf(xml) !== 'read') return;
        read += 1;
        expect(XMLValidator.validate(xml)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  test('finds the namespace of each element', () => {
    const root = scanXml(
      '<a xmlns="urn:1" xmlns:p="urn:2"><p:b/><c xmlns="urn:3"><p:d xmlns:p="urn:4"/></c><e/></a>',
    );
    const spaces: string[] = [];
    const visit = (element: XmlElement) => {
      spaces.push(`${element.name} ${element.namespace}`);
      element.children.forEach(visit);
    };
    visit(root);
    expect(spaces).toEqual(['a urn:1', 'b urn:2', 'c urn:3', 'd urn:4', 'e urn:1']);
  });

  test('decodes the references that XML defines, once', () => {
    expect(scanXml('<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;&amp;lt;</a>').text).toBe('<>&"\'A😀&lt;');
  });

  test.each([
    ['<a>&nbsp;</a>', 'undefined_entity'],
    ['<a>&</a>', 'undefined_entity'],
    ['<a>& amp;</a>', 'undefined_entity'],
    ['<a b="&x;"/>', 'undefined_entity'],
    ['<a>&#0;</a>', 'malformed'],
    ['<a>&#xD800;</a>', 'malformed'],
    ['<a>&#x110000;</a>', 'malformed'],
    ['<a>\u0001</a>', 'malformed'],
    ['<a>\uD800</a>', 'malformed'],
    ['<a/><b/>', 'malformed'],
    ['<a/>b', 'malformed'],
    ['b<a/>', 'malformed'],
    ['<a b="1" b="2"/>', 'malformed'],
    ['<a b/>', 'malformed'],
    ['<a b=c/>', 'malformed'],
    ['<a b="<"/>', 'malformed'],
    ['<a></b>', 'malformed'],
    ['</a>', 'malformed'],
    ['<a', 'malformed'],
    ['<a>]]></a>', 'malformed'],
    ['<a><b/>text</a>', 'malformed'],
    [' <?xml version="1.0"?><a/>', 'forbidden_markup'],
    ['<!DOCTYPE a><a/>', 'forbidden_markup'],
    ['<p:a/>', 'wrong_namespace'],
  ])('refuses %j', (xml, reason) => {
    expect(reasonOf(xml)).toBe(reason);
  });

  test('has limits of size and depth', () => {
    const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
    expect(reasonOf(nested(ELEMENT_DEPTH_MAX))).toBe('read');
    expect(reasonOf(nested(ELEMENT_DEPTH_MAX + 1))).toBe('malformed');
    const filled = (length: number) => `<a>${' '.repeat(length - 7)}</a>`;
    expect(reasonOf(filled(MESSAGE_CHARACTERS_MAX))).toBe('read');
    expect(reasonOf(filled(MESSAGE_CHARACTERS_MAX + 1))).toBe('too_large');
  });

  test('does not slow down on texts made to do so', () => {
    const hostile = ['<', '<a ', '&', '<a a', '<a a=', ' ', '<a\n'].map((part) =>
      part.repeat(MESSAGE_CHARACTERS_MAX / part.length),
    );
    const started = processorMs();
    for (const xml of hostile)
      expect(reasonOf(`<a${' '.repeat(9)}${xml}`.slice(0, MESSAGE_CHARACTERS_MAX))).not.toBe('read');
    expect(processorMs() - started).toBeLessThan(2_000);
  });
});
