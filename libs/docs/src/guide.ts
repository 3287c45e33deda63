import { readFileSync } from 'node:fs';
import { lexer, type Token, type Tokens } from 'marked';
import type { DocsSite } from './site.ts';

/** A page as it is written: Markdown with the figures of the code in it. */
export interface Guide {
  name: string;
  title: string;
  /** The first paragraph: what one can do after reading. */
  promise: string;
  tokens: readonly Token[];
}

const INCLUDE = /\{\{([a-z][a-z0-9_]*)\}\}/g;

/** Throws where a page names something that the code does not give. */
function expandIncludes(markdown: string, includes: DocsSite['includes'], page: string): string {
  return markdown.replaceAll(INCLUDE, (_whole, name: string) => {
    const text = includes[name];
    if (text === undefined) throw new Error(`${page} includes {{${name}}}, which is not there`);
    return text;
  });
}

/** The names that a page includes. */
export function includesOf(markdown: string): string[] {
  return [...markdown.matchAll(INCLUDE)].map(([, name]) => name as string);
}

export function readMarkdown(site: Pick<DocsSite, 'folder'>, name: string): string {
  return readFileSync(new URL(`${name}.md`, site.folder), 'utf8');
}

function readGuide(
  site: Pick<DocsSite, 'folder' | 'includes' | 'writtenUrl' | 'publicUrl'>,
  name: string,
): Guide {
  const written = expandIncludes(readMarkdown(site, name), site.includes, `${name}.md`);
  const tokens = lexer(written.replaceAll(site.writtenUrl, site.publicUrl));
  const [first, second] = tokens.filter(({ type }) => type !== 'space');
  if (first?.type !== 'heading' || (first as Tokens.Heading).depth !== 1)
    throw new Error(`${name}.md must begin with its title`);
  if (second?.type !== 'paragraph')
    throw new Error(`${name}.md must say after its title what one will be able to do`);
  return {
    name,
    title: (first as Tokens.Heading).text,
    promise: (second as Tokens.Paragraph).text,
    tokens,
  };
}

/** Every guide of the site, the start page first. */
export function readGuides(site: DocsSite): Guide[] {
  return ['index', ...site.groups.flatMap(({ pages }) => pages)].map((name) => readGuide(site, name));
}
