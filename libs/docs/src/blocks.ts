import type { Token, Tokens } from 'marked';

/**
 * A block of code in a guide. After its language stands what it is:
 * nothing (it is run), `file=name` (it is written to a file), `as=Name` (the name of its tab), `output` (what the block before it prints; `output all`:
 * what every tab before it prints), or `shown` (it is not run; it says why in the text).
 */
export interface Block {
  language: string;
  text: string;
  use: 'run' | 'file' | 'output' | 'shown';
  file: string | null;
  /** The name of its tab, where its language is not it. */
  label: string | null;
  /** Whether an output is that of all tabs of its group. */
  ofAll: boolean;
  /** Whether it is run in the folder of this repository instead of the reader's own. */
  inRepository: boolean;
}

const WORDS = new Set(['output', 'all', 'shown', 'repository']);

function readBlock({ lang = '', text }: Pick<Tokens.Code, 'lang' | 'text'>): Block {
  const [language = '', ...words] = lang.split(/\s+/);
  const wordAfter = (name: string) =>
    words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
  const file = wordAfter('file');
  const unknown = words.find((word) => !/^(file|as)=./.test(word) && !WORDS.has(word));
  if (unknown !== undefined) throw new Error(`A block of code says "${unknown}", which means nothing.`);
  const use =
    file !== null ? 'file' : words.includes('output') ? 'output' : words.includes('shown') ? 'shown' : 'run';
  return {
    ...{ language, text, use, file, label: wordAfter('as') },
    ofAll: words.includes('all'),
    inRepository: words.includes('repository'),
  };
}

/** Blocks that stand together with nothing between them: tabs, and what they print. */
export function groupBlocks(tokens: readonly Token[]): (Token | { type: 'blocks'; blocks: Block[] })[] {
  const grouped: (Token | { type: 'blocks'; blocks: Block[] })[] = [];
  let open: Block[] | undefined;
  for (const token of tokens) {
    if (token.type === 'code') {
      if (open === undefined) {
        open = [];
        grouped.push({ type: 'blocks', blocks: open });
      }
      open.push(readBlock(token as Tokens.Code));
    } else if (token.type !== 'space') {
      open = undefined;
      grouped.push(token);
    }
  }
  return grouped;
}
