/** What speaks to mail servers. It brings libraries that were a seventh of the heap of each process, so it is loaded with the first call. */
export { createFolder, deleteMessages, listFolders, moveMessages, updateFlags } from './organise.ts';
export { getAttachment, getMessage } from './reading/read.ts';
export { searchMessages } from './reading/search.ts';
export { listThreads } from './reading/threads.ts';
export { createDraft } from './sending/draft.ts';
export { replyToMessage } from './sending/reply.ts';
export { afterSending, fileCopy } from './sending/sent-folder.ts';
export { checkSmtp, sendMail } from './sending/smtp.ts';
