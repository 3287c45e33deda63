import { type ElementReader, oneOf, textUpTo } from './element-reader.ts';
import { MessageFieldError } from './errors.ts';
import { REFERENCE, requireDateTime, requireMatch } from './field-checks.ts';
import type { NetworkDateTime } from './network-time.ts';
import { escapeText } from './xml.ts';

/** How a message names the earlier one that it is about. */
export interface OriginalGroup {
  readonly messageId: string;
  readonly messageName: string;
  readonly createdAt: NetworkDateTime;
}

const MESSAGE_NAMES: ReadonlySet<string> = new Set([
  'acmt.022.001.02',
  'camt.026.001.07',
  'camt.028.001.09',
  'camt.029.001.09',
  'camt.035.001.05',
  'camt.056.001.08',
  'pacs.002.001.10',
  'pacs.008.001.08',
  'pacs.009.001.08',
  'pacs.028.001.03',
  'pain.013.001.07',
  'pain.014.001.07',
  'remt.001.001.04',
]);

export function writeOriginalGroup(element: `${string}:${string}`, original: OriginalGroup): string {
  requireMatch('original.messageId', original.messageId, REFERENCE);
  if (!MESSAGE_NAMES.has(original.messageName)) {
    throw new MessageFieldError('original.messageName', 'the name of a message of the network');
  }
  requireDateTime('original.createdAt', original.createdAt);
  const prefix = element.slice(0, element.indexOf(':'));
  return (
    `<${element}><${prefix}:OrgnlMsgId>${escapeText(original.messageId)}</${prefix}:OrgnlMsgId>` +
    `<${prefix}:OrgnlMsgNmId>${original.messageName}</${prefix}:OrgnlMsgNmId>` +
    `<${prefix}:OrgnlCreDtTm>${original.createdAt}</${prefix}:OrgnlCreDtTm>` +
    `<${prefix}:OrgnlNbOfTxs>1</${prefix}:OrgnlNbOfTxs></${element}>`
  );
}

export function readOriginalGroup(group: ElementReader): OriginalGroup {
  const messageId = group.text('OrgnlMsgId', textUpTo(35));
  const messageName = group.text('OrgnlMsgNmId', (text) => MESSAGE_NAMES.has(text));
  const createdAt = group.dateTime('OrgnlCreDtTm');
  group.text('OrgnlNbOfTxs', oneOf('1'));
  return { messageId, messageName, createdAt };
}
