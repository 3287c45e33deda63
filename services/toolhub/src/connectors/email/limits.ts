// What both the schemas of the tools and their work go by.
/** A longer path cannot be asked for, and is not listed. */
export const FOLDER_LENGTH_MAX = 500;
/** Whoever asks for more, as was possible once, gets a page and goes on from there. */
export const ATTACHMENT_ASKED_BYTES_MAX = 4 * 1024 * 1024;
