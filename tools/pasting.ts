// What a shell makes of a block of the docs that is pasted at its prompt. zsh, the shell of every Mac, reads there otherwise than bash
// does in a file: it knows no comments, takes ? and [ in an address for patterns of file names, and refuses patterns that match none.

interface Word {
  text: string;
  /** Quoted characters are spaces here, so that what is found in it means something to the shell. */
  bare: string;
  /** As `bare`, but with what double quotes leave to the shell: variables and its history. */
  live: string;
  isCommand: boolean;
}

/** Where a shell would write to a variable of its own: zsh has lower-case ones, and ids that cannot be set. */
const OWN_VARIABLES =
  /^(status|path|cdpath|fpath|argv|options|prompt|pipestatus|commands|functions|aliases|UID|E?GID|EUID|PPID|USERNAME|HISTCMD|PATH|HOME)=/;

/** Everything in a block that a prompt would refuse or read as something else; `matches` says whether a pattern names files. */
export function faultsOfPasting(text: string, matches: (pattern: string) => boolean): string[] {
  return [...questionsUnseen(text), ...wordsOf(withoutHereDocuments(text)).flatMap(faultsOfWord(matches))];
}

/** npx asks before it fetches a package, and what it asks would become a part of what is kept. */
function questionsUnseen(text: string): string[] {
  const kept = [...text.matchAll(/\$\((npx [^()]*--package[^()]*)\)/g)].map(([, command = '']) => command);
  return kept
    .filter((command) => !/ (--yes|-y) /.test(command))
    .map((command) => `${command}: nobody sees what npx asks; add --yes`);
}

const faultsOfWord =
  (matches: (pattern: string) => boolean) =>
  (word: Word): string[] => {
    const { text: shown, bare, live } = word;
    const at = (says: string) => [`${shown}: ${says}`];
    if (bare.startsWith('#')) return at('zsh knows no comments at a prompt; say it above the block');
    if (/(?<!\$)![^\s"=]/.test(live))
      return at('a prompt looks for it in its history; put it into single quotes');
    if (/<[A-Za-z][\w -]*>/.test(bare))
      return at('a shell reads a file of that name; use a variable for what the reader puts in');
    if (/[?*[]/.test(withoutVariables(bare)) && !isTest(word) && !matches(shown))
      return at('zsh refuses a pattern that names no file; quote it');
    if (/^=./.test(bare)) return at('zsh looks for a command of that name; quote it');
    if (/\$\w+(\[|:[A-Za-z&])/.test(live))
      return at('zsh reads more than the name; put its name into braces');
    if (word.isCommand && OWN_VARIABLES.test(bare))
      return at('a shell has a variable of that name; take another');
    return [];
  };

const withoutVariables = (bare: string) => bare.replaceAll(/\$\{[^}]*\}|\$[?*]/g, '');

const isTest = ({ text }: Word) => text === '[' || text === '[[';

function withoutHereDocuments(text: string): string {
  return text.replaceAll(/<<-?\s*(['"]?)(\w+)\1([^\n]*)\n[\s\S]*?\n\2(?=\n|$)/g, '$3');
}

/** Between words: blanks, and what separates or groups commands. A continued line is a blank. */
const BETWEEN = /^(?:\\\n|[ \t\n;|&(){}]|\d?>>?&?|<(?![A-Za-z]))/;

function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let isCommand = true;
  for (let rest = text; rest !== ''; ) {
    const [between] = BETWEEN.exec(rest) ?? [];
    if (between !== undefined) {
      if (/[\n;|&(){}]/.test(between) && between !== '\\\n') isCommand = true;
      rest = rest.slice(between.length);
      continue;
    }
    const word = { ...wordAt(rest), isCommand };
    words.push(word);
    // What stands behind the last assignment is the command.
    isCommand &&= /^\w+=/.test(word.text);
    rest = rest.slice(word.text.length);
  }
  return words;
}

/** One piece of a word: quotes, an escaped character, a variable, a command within, or a plain character. */
const PIECES = [
  { pattern: /^'[^']*'/, bare: false, live: false },
  { pattern: /^"(?:\\[\s\S]|\$\((?:[^()]|\([^)]*\))*\)|[^"\\])*"/, bare: false, live: true },
  { pattern: /^\\[\s\S]/, bare: false, live: false },
  { pattern: /^\$\{[^}]*\}/, bare: true, live: true },
  { pattern: /^\$[?*!#@$]/, bare: true, live: true },
  { pattern: /^<[A-Za-z][\w -]*>/, bare: true, live: true },
  { pattern: /^[^\s;|&()<>]/, bare: true, live: true },
];

function wordAt(text: string): Omit<Word, 'isCommand'> {
  let length = 0;
  let bare = '';
  let live = '';
  for (;;) {
    const rest = text.slice(length);
    const piece = PIECES.find(({ pattern }) => pattern.test(rest));
    const [found] = piece?.pattern.exec(rest) ?? [];
    if (piece === undefined || found === undefined) break;
    bare += piece.bare ? found : ' '.repeat(found.length);
    live += piece.live ? found : ' '.repeat(found.length);
    length += found.length;
  }
  // A character that begins no piece (a lone quote) stands for itself, so that the text comes to an end.
  const end = Math.max(1, length);
  return { text: text.slice(0, end), bare: bare || text.slice(0, end), live };
}
