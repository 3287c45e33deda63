import { ElementReader, matching, oneOf, textUpTo } from '../../iso20022/element-reader.ts';
import { MessageFieldError } from '../../iso20022/errors.ts';
import { requireDateTime, requireMatch } from '../../iso20022/field-checks.ts';
import type { NetworkDateTime } from '../../iso20022/network-time.ts';
import { MessageRefused } from '../../iso20022/refusal.ts';
import { scanXml } from '../../iso20022/xml.ts';
import { BUSINESS_MESSAGE_ID, isParticipant } from '../identifiers.ts';

/**
 * Every message travels in one envelope: the business application header (`head.001.001.01`), then the
 * document. The envelope and its two parts are in the network's namespace, what is in them in ISO's.
 */
export const DEFINITIONS = {
  'pacs.008': { id: 'pacs.008.001.08', wrapper: 'CreditTransfer', root: 'FIToFICstmrCdtTrf', prefix: 'ct' },
  'pacs.002': {
    id: 'pacs.002.001.10',
    wrapper: 'MessageStatusReport',
    root: 'FIToFIPmtStsRpt',
    prefix: 'ps',
  },
  'pacs.028': {
    id: 'pacs.028.001.03',
    wrapper: 'PaymentStatusRequest',
    root: 'FIToFIPmtStsReq',
    prefix: 's8',
  },
} as const;

export type MessageKind = keyof typeof DEFINITIONS;

export interface BusinessHeader {
  /** The participants' identifiers of 11 characters. */
  readonly from: string;
  readonly to: string;
  readonly businessMessageId: string;
  readonly createdAt: NetworkDateTime;
  readonly copy: 'DUPL' | 'COPY' | null;
}

const NETWORK = 'urn:tch';
const ISO = 'urn:iso:std:iso:20022:tech:xsd:';
const HEADER_NAMESPACE = `${ISO}head.001.001.01`;

export function writeEnvelope(kind: MessageKind, header: BusinessHeader, document: string): string {
  const { before, between, after } = FRAMES[kind];
  return `${before}${writeHeader(kind, header)}${between}${document}${after}`;
}

const FRAMES = Object.fromEntries(
  Object.entries(DEFINITIONS).map(([kind, { id, wrapper, root, prefix }]) => [
    kind,
    {
      before:
        '<?xml version="1.0" encoding="UTF-8"?>\n' +
        `<Message xmlns="${NETWORK}" xmlns:head="${HEADER_NAMESPACE}" xmlns:${prefix}="${ISO}${id}"><AppHdr>`,
      between: `</AppHdr><${wrapper}><${prefix}:${root}>`,
      after: `</${prefix}:${root}></${wrapper}></Message>`,
    },
  ]),
) as Record<MessageKind, { before: string; between: string; after: string }>;

const ID_START = '<head:BizMsgIdr>';
const ID_END = '</head:BizMsgIdr>';
const CREATED_END = '</head:CreDt>';
const DUPLICATE_MARK = '<head:CpyDplct>DUPL</head:CpyDplct>';

function writeHeader(kind: MessageKind, header: BusinessHeader): string {
  requireDateTime('header.createdAt', header.createdAt);
  requireMatch('header.businessMessageId', header.businessMessageId, BUSINESS_MESSAGE_ID);
  return (
    `<head:Fr>${writeParticipant('header.from', header.from)}</head:Fr>` +
    `<head:To>${writeParticipant('header.to', header.to)}</head:To>` +
    `${ID_START}${header.businessMessageId}${ID_END}` +
    `<head:MsgDefIdr>${DEFINITIONS[kind].id}</head:MsgDefIdr>` +
    `<head:CreDt>${header.createdAt}${CREATED_END}` +
    (header.copy === null ? '' : `<head:CpyDplct>${header.copy}</head:CpyDplct>`)
  );
}

/** What stands where our builder writes the id; nothing is known of the text beyond that. */
export function businessMessageIdIn(xml: string): string {
  const start = xml.indexOf(ID_START) + ID_START.length;
  return xml.slice(start, xml.indexOf(ID_END, start));
}

/** A house and its network are two; others are named in tests. */
const PARTICIPANTS_KEPT_MAX = 100;
const writtenParticipants = new Map<string, string>();

function writeParticipant(field: string, participant: string): string {
  let written = writtenParticipants.get(participant);
  if (written !== undefined) return written;
  requireMatch(field, participant, /^[A-Z0-9]{11}$/);
  written =
    '<head:FIId><head:FinInstnId><head:ClrSysMmbId>' +
    `<head:MmbId>${participant}</head:MmbId>` +
    '</head:ClrSysMmbId></head:FinInstnId></head:FIId>';
  if (writtenParticipants.size >= PARTICIPANTS_KEPT_MAX) writtenParticipants.clear();
  writtenParticipants.set(participant, written);
  return written;
}

/**
 * The same message again, marked as a possible duplicate. It works on the text that was sent, so that
 * nothing but the mark can differ; a text that already has the mark is returned as it is.
 */
export function markAsDuplicate(sent: string): string {
  if (sent.includes(`${CREATED_END}${DUPLICATE_MARK}`)) return sent;
  const markAt = sent.indexOf(CREATED_END);
  if (markAt === -1 || sent.includes('<head:CpyDplct>')) {
    throw new MessageFieldError('sent', 'a message of ours, as it was sent');
  }
  const end = markAt + CREATED_END.length;
  return sent.slice(0, end) + DUPLICATE_MARK + sent.slice(end);
}

export interface OpenedEnvelope<T> {
  /** Null where the sender left the header blank. */
  readonly header: BusinessHeader | null;
  readonly message: T;
}

export type DocumentReaders<T> = { readonly [K in MessageKind]?: (document: ElementReader) => T };

/** Reads an envelope whose document is one of those that there are readers for. */
export function readEnvelope<T>(xml: string, readers: DocumentReaders<T>): OpenedEnvelope<T> {
  const root = scanXml(xml);
  if (root.name !== 'Message') throw new MessageRefused('wrong_message', 'the root is not Message');
  if (root.namespace !== NETWORK) throw new MessageRefused('wrong_namespace', 'Message');
  const envelope = new ElementReader(root, null);
  const header = envelope.group('AppHdr', readHeader, HEADER_NAMESPACE);
  const wrapper = envelope.nextName();
  const kind = KINDS.find((candidate) => DEFINITIONS[candidate].wrapper === wrapper);
  const read = kind === undefined ? undefined : readers[kind];
  if (kind === undefined || read === undefined) {
    throw new MessageRefused('wrong_message', `the document is ${wrapper ?? 'missing'}`);
  }
  const definition = DEFINITIONS[kind];
  if (header !== null && header.definition !== definition.id) {
    throw new MessageRefused('header_mismatch', 'the header names another message than the document is');
  }
  const message = envelope.group(
    definition.wrapper,
    (document) => document.group(definition.root, read),
    `${ISO}${definition.id}`,
  );
  envelope.finish();
  return { header: header === null ? null : header.fields, message };
}

const KINDS = Object.keys(DEFINITIONS) as MessageKind[];

function readHeader(header: ElementReader): { definition: string; fields: BusinessHeader } | null {
  if (header.isNextBlank()) {
    for (const name of ['Fr', 'To', 'BizMsgIdr', 'MsgDefIdr']) header.text(name, (text) => text === '');
    header.dateTime('CreDt');
    return null;
  }
  const from = header.group('Fr', readParticipant);
  const to = header.group('To', readParticipant);
  const businessMessageId = header.text('BizMsgIdr', matching(BUSINESS_MESSAGE_ID));
  const definition = header.text('MsgDefIdr', textUpTo(35));
  header.skip('BizSvc');
  const createdAt = header.dateTime('CreDt');
  const copy = header.optionalText('CpyDplct', oneOf('COPY', 'DUPL')) as BusinessHeader['copy'];
  header.skip('Sgntr');
  return { definition, fields: { from, to, businessMessageId, createdAt, copy } };
}

function readParticipant(party: ElementReader): string {
  return party.group('FIId', (agent) => {
    const participant = agent.group('FinInstnId', (institution) =>
      institution.group('ClrSysMmbId', (member) => member.text('MmbId', isParticipant)),
    );
    agent.skip('BrnchId');
    return participant;
  });
}
