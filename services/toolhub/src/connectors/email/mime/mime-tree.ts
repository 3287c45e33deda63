import type { MessageStructureObject } from 'imapflow';

/** How many parts of one message are looked at, those that only hold others included. */
export const PARTS_MAX = 200;
const BODY_PARTS_MAX = 10;
const FILENAME_LENGTH_MAX = 255;
const NAME_READ_MAX = 4_096;

export interface LeafPart {
  partId: string;
  contentType: string;
  encoding: string;
  /** In the transfer encoding, as the server counts it. */
  encodedBytes: number;
  filename: string | null;
  charset: string;
  /** RFC 3676: lines that end with a space go on in the next one. */
  isFlowed: boolean;
  deletesSpace: boolean;
}

/** One part that stands for itself, or all that stand in one multipart/alternative, where HTML repeats the text. */
export interface BodySection {
  text: LeafPart[];
  html: LeafPart[];
}

/** `text` and `html` have the parts of the body by their type, `sections` the same parts in their order. */
export interface MimeTree extends BodySection {
  sections: BodySection[];
  attachments: LeafPart[];
  /** A message of one part answers to `TEXT` on every server, to its part number only on most. */
  isSinglePart: boolean;
  /** Whether there are parts that nobody looked at. */
  isCut: boolean;
}

interface Waiting {
  node: MessageStructureObject;
  /** The section of those that say the same, within one. */
  choices: BodySection | undefined;
  /** Text is a part of the body here also where it has a file name (RFC 8621 4.1.4): some programs give one to all that they write. */
  mayBeNamed: boolean;
}

/** Sorts the leaves of a message: what is read as its body, and what is attached. Forwarded messages stay closed. */
export function readMimeTree(root: MessageStructureObject): MimeTree {
  const isSinglePart = !isMultipart(root);
  const tree: MimeTree = { sections: [], text: [], html: [], attachments: [], isSinglePart, isCut: false };
  const waiting: Waiting[] = [{ node: root, choices: undefined, mayBeNamed: true }];
  for (let visited = 0; visited < PARTS_MAX; visited += 1) {
    const next = waiting.shift();
    if (next === undefined) break;
    const { node } = next;
    const isChoice = node.type === 'multipart/alternative';
    const choices = next.choices ?? (isChoice ? newSection(tree) : undefined);
    const children = isMultipart(node) ? (node.childNodes ?? []) : undefined;
    if (children === undefined) sortLeaf(tree, next);
    else
      waiting.unshift(
        ...children.map((child, index) => ({ node: child, choices, mayBeNamed: isChoice || index === 0 })),
      );
  }
  tree.isCut = waiting.length > 0;
  return tree;
}

function isMultipart(node: MessageStructureObject): boolean {
  return node.type.startsWith('multipart/');
}

function newSection({ sections }: MimeTree): BodySection {
  const section: BodySection = { text: [], html: [] };
  sections.push(section);
  return section;
}

function sortLeaf(tree: MimeTree, { node, choices, mayBeNamed }: Waiting): void {
  const leaf: LeafPart = {
    partId: node.part ?? '1',
    contentType: node.type,
    encoding: (node.encoding ?? '7bit').toLowerCase(),
    encodedBytes: node.size ?? 0,
    filename: safeFilename(node.dispositionParameters?.filename ?? node.parameters?.name),
    charset: parameter(node, 'charset'),
    isFlowed: node.type === 'text/plain' && parameter(node, 'format') === 'flowed',
    deletesSpace: parameter(node, 'delsp') === 'yes',
  };
  const isNamedFile = leaf.filename !== null && !mayBeNamed;
  const isAttached = node.disposition?.toLowerCase() === 'attachment' || isNamedFile;
  const kind = node.type === 'text/plain' ? 'text' : node.type === 'text/html' ? 'html' : undefined;
  if (kind === undefined || isAttached || tree[kind].length >= BODY_PARTS_MAX) {
    tree.attachments.push(leaf);
    return;
  }
  tree[kind].push(leaf);
  (choices ?? newSection(tree))[kind].push(leaf);
}

const PARAMETER_LENGTH_MAX = 100;

function parameter({ parameters }: MessageStructureObject, name: string): string {
  const value: unknown = parameters?.[name];
  return typeof value === 'string' ? value.slice(0, PARAMETER_LENGTH_MAX).trim().toLowerCase() : '';
}

/** What joins or parts the letters of Persian and Indian words, and the pieces of an emoji. */
const JOINERS = /[\u200c\u200d]/g;
const INVISIBLE = /(?:\p{Cc}|(?![\u200c\u200d])\p{Cf})+/gu;
const NO_NAMES: ReadonlySet<string> = new Set(['', '.', '..']);

/** A name to show and to save under: never a path, never invisible characters but those that letters need. */
export function safeFilename(name: unknown): string | null {
  if (typeof name !== 'string') return null;
  // The end of a name that is too long to be one is kept, for the type that it may tell.
  const last = name.slice(-NAME_READ_MAX).split(/[/\\]/).at(-1) ?? '';
  const clean = last.replaceAll(INVISIBLE, '').trim();
  const shown = clean.replaceAll(JOINERS, '').trim();
  return NO_NAMES.has(shown) ? null : clean.slice(0, FILENAME_LENGTH_MAX);
}
