// The README is what people and models rely on: every tool is in it, with its class, and its limits are those of the code.
import { readFileSync } from 'node:fs';
import { IMAP_LIMITS, SMTP_LIMITS } from '@libs/egress';
import { describe, expect, it } from 'vitest';
import { SHARE_LIMITS } from './connection-shares.ts';
import { createEmailConnector } from './connector.ts';
import { TEXT_LENGTH_MAX } from './mime/html-text.ts';
import { PARTS_MAX } from './mime/mime-tree.ts';
import { ATTACHMENT_PAGE_BYTES_MAX, ATTACHMENTS_LISTED_MAX } from './reading/read.ts';
import { UIDS_MAX } from './schemas.ts';
import { ATTACHMENT_BYTES_TOTAL_MAX, RECIPIENTS_MAX } from './sending/compose.ts';

const readme = readFileSync(new URL('./README.md', import.meta.url), 'utf8');

describe('the fact sheet of e-mail', () => {
  it('names every tool and no other', () => {
    const rows = [...readme.matchAll(/^\| `(email_\w+)` +\| ([RWIUD]) /gm)].map(([, name, kind]) => [
      name,
      kind,
    ]);
    const tools = createEmailConnector().tools.map((tool) => [tool.name, tool.class]);
    expect(rows.toSorted()).toEqual(tools.toSorted());
  });

  it('has the limits of the code', () => {
    const limits = Object.fromEntries(
      [...readme.matchAll(/^\| ([^|]+?) +\| ([\d,]+) +\|$/gm)].map(([, name, value]) => [
        name,
        Number(value?.replaceAll(',', '')),
      ]),
    );
    expect(limits).toEqual({
      'IMAP: bytes of an answer without literals': IMAP_LIMITS.lineBytes,
      'IMAP: bytes of a literal': IMAP_LIMITS.literalBytes,
      'IMAP: bytes of the answers to a command': IMAP_LIMITS.commandBytes,
      'IMAP: answers to a command that lists': IMAP_LIMITS.commandItems,
      'IMAP: answers to a command for one folder': IMAP_LIMITS.singleItems,
      'IMAP: answers to another command': IMAP_LIMITS.otherItems,
      'IMAP: nesting of lists': IMAP_LIMITS.nesting,
      'IMAP: bytes of a word without quotes': IMAP_LIMITS.wordBytes,
      'IMAP: the same where a folder is named': IMAP_LIMITS.pathBytes,
      'SMTP: bytes of a line': SMTP_LIMITS.lineBytes,
      'SMTP: bytes of a connection': SMTP_LIMITS.bytes,
      'connections of all customers': SHARE_LIMITS.total,
      'connections of one customer, IMAP or SMTP': SHARE_LIMITS.perOwner,
      'text or HTML of a message, bytes': TEXT_LENGTH_MAX,
      'attachments of a message that are listed': ATTACHMENTS_LISTED_MAX,
      'parts of a message that are looked at': PARTS_MAX,
      'page of an attachment, bytes': ATTACHMENT_PAGE_BYTES_MAX,
      'attachments that are sent, bytes': ATTACHMENT_BYTES_TOTAL_MAX,
      'recipients of a message': RECIPIENTS_MAX,
      'messages that one call changes': UIDS_MAX,
    });
  });
});
