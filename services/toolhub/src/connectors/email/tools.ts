import { Type } from 'typebox';
import { defineTool, pageOf, type ToolContext, type ToolDefinition } from '../connector.ts';
import type { ConnectionShares } from './connection-shares.ts';
import type { EmailCredential } from './credential.ts';
import type { ImapPool } from './imap/pool.ts';
import { messageSchema, messageSummarySchema } from './mime/message.ts';
import * as schemas from './schemas.ts';
import { composeMail, messageIdsOf } from './sending/compose.ts';

const work = () => import('./work.ts');

type EmailContext = ToolContext<EmailCredential>;

export interface EmailToolDeps {
  pool: ImapPool;
  shares: ConnectionShares;
}

export function emailTools(deps: EmailToolDeps): ToolDefinition[] {
  return [...readingTools(deps), ...sendingTools(deps), ...organisingTools(deps)];
}

function readingTools({ pool }: EmailToolDeps): ToolDefinition[] {
  return [
    defineTool({
      name: 'email_list_folders',
      title: 'List mail folders',
      description: 'Lists the folders of the mailbox with the number of messages and of unread ones in each.',
      class: 'R',
      inputSchema: schemas.closed({}),
      outputSchema: pageOf(schemas.folderSchema),
      list: true,
      untrusted: false,
      run: async (args, context: EmailContext) => (await work()).listFolders(pool, args, context),
    }),
    defineTool({
      name: 'email_search_messages',
      title: 'Search messages',
      description:
        'Finds messages in a folder (INBOX by default), newest first. Without filters it lists the folder.',
      class: 'R',
      inputSchema: schemas.searchInput,
      outputSchema: pageOf(messageSummarySchema),
      list: true,
      untrusted: true,
      run: async (args, context: EmailContext) => (await work()).searchMessages(pool, args, context),
    }),
    defineTool({
      name: 'email_list_threads',
      title: 'List threads',
      description:
        'Lists conversations of a folder (INBOX by default), newest first, each with its messages in that folder.',
      class: 'R',
      inputSchema: schemas.threadsInput,
      outputSchema: pageOf(schemas.threadSchema),
      list: true,
      untrusted: true,
      run: async (args, context: EmailContext) => (await work()).listThreads(pool, args, context),
    }),
    defineTool({
      name: 'email_get_message',
      title: 'Read a message',
      description:
        'Reads one message: headers, text, HTML and the list of attachments. The message stays unread.',
      class: 'R',
      inputSchema: schemas.closed({
        folder: schemas.folder,
        uid: schemas.uid,
        format: Type.Optional(
          Type.Enum(['full', 'text', 'html'], {
            type: 'string',
            description: 'Which body to read; full reads both.',
          }),
        ),
      }),
      outputSchema: messageSchema,
      untrusted: true,
      run: async (args, context: EmailContext) => (await work()).getMessage(pool, args, context),
    }),
    defineTool({
      name: 'email_get_attachment',
      title: 'Get an attachment',
      description: 'Reads an attachment in pages of up to 1 MiB. Go on with next_offset until it is null.',
      class: 'R',
      inputSchema: schemas.attachmentInput,
      outputSchema: schemas.attachmentOutput,
      untrusted: true,
      run: async (args, context: EmailContext) => (await work()).getAttachment(pool, args, context),
    }),
  ];
}

function sendingTools({ pool, shares }: EmailToolDeps): ToolDefinition[] {
  return [
    defineTool({
      name: 'email_send_message',
      title: 'Send a message',
      description: 'Sends an e-mail from the connected account.',
      class: 'W',
      inputSchema: schemas.sendInput,
      outputSchema: schemas.sendOutput,
      async run(args, context: EmailContext) {
        const { from } = context.credential;
        const mail = composeMail({ ...args, from, date: context.now(), newMessageId: messageIdsOf(context) });
        const { afterSending, fileCopy, sendMail } = await work();
        const sent = await sendMail(shares, context, mail);
        return {
          message_id: sent.messageId,
          accepted: sent.accepted,
          rejected: sent.rejected,
          sent_folder: await fileCopy(pool, mail, afterSending(context)),
        };
      },
    }),
    defineTool({
      name: 'email_create_draft',
      title: 'Create a draft',
      description: 'Puts a message into the folder for drafts, to be looked over and sent by a person.',
      class: 'W',
      inputSchema: schemas.draftInput,
      outputSchema: schemas.draftOutput,
      async run(args, context: EmailContext) {
        const { from } = context.credential;
        const { to = [], subject = '', ...rest } = args;
        const [date, newMessageId] = [context.now(), messageIdsOf(context)];
        const mail = composeMail({ ...rest, to, subject, from, date, newMessageId, isDraft: true });
        const { createDraft } = await work();
        return createDraft(pool, mail, context);
      },
    }),
    defineTool({
      name: 'email_reply_message',
      title: 'Reply to a message',
      description:
        'Answers a message in its thread, to its sender or, with reply_all, to everybody who got it. A message of the account itself is answered to those who got it.',
      class: 'W',
      inputSchema: schemas.replyInput,
      outputSchema: schemas.replyOutput,
      async run(args, context: EmailContext) {
        const { replyToMessage } = await work();
        const sent = await replyToMessage(pool, args, { context, shares });
        return {
          message_id: sent.messageId,
          accepted: sent.accepted,
          rejected: sent.rejected,
          sent_folder: sent.folder,
          marked_answered: sent.flagged,
        };
      },
    }),
  ];
}

function organisingTools({ pool }: EmailToolDeps): ToolDefinition[] {
  return [
    defineTool({
      name: 'email_update_flags',
      title: 'Change flags',
      description: 'Adds flags to messages or removes them, for example seen to mark as read.',
      class: 'I',
      inputSchema: schemas.closed({
        folder: schemas.folder,
        uids: schemas.uids,
        add: Type.Optional(schemas.flags),
        remove: Type.Optional(schemas.flags),
      }),
      outputSchema: schemas.updateFlagsOutput,
      run: async (args, context: EmailContext) => (await work()).updateFlags(pool, args, context),
    }),
    defineTool({
      name: 'email_move_messages',
      title: 'Move messages',
      description: 'Moves messages to another folder that exists already.',
      class: 'I',
      inputSchema: schemas.closed({
        folder: schemas.folder,
        uids: schemas.uids,
        target_folder: schemas.folder,
      }),
      outputSchema: schemas.moveOutput,
      run: async (args, context: EmailContext) => (await work()).moveMessages(pool, args, context),
    }),
    defineTool({
      name: 'email_delete_messages',
      title: 'Delete messages',
      description: 'Moves messages to the trash, from which they can be taken back.',
      class: 'D',
      inputSchema: schemas.closed({ folder: schemas.folder, uids: schemas.uids }),
      outputSchema: schemas.deleteOutput,
      run: async (args, context: EmailContext) => (await work()).deleteMessages(pool, args, context),
    }),
    defineTool({
      name: 'email_create_folder',
      title: 'Create a folder',
      description: 'Makes a folder, beside the others or in one of them.',
      class: 'I',
      inputSchema: schemas.createFolderInput,
      outputSchema: schemas.createFolderOutput,
      run: async (args, context: EmailContext) => (await work()).createFolder(pool, args, context),
    }),
  ];
}
