/** What is used of mailparser, which comes without types. */
declare module 'mailparser' {
  export interface ParsedMail {
    text?: string;
    html?: string | false;
    subject?: string;
    messageId?: string;
    date?: Date;
    bcc?: unknown;
    inReplyTo?: string;
    references?: string | string[];
    headers: Map<string, unknown>;
    attachments: { filename?: string; contentType: string; content: Buffer; size: number }[];
  }
  export interface ParserOptions {
    skipTextToHtml?: boolean;
    skipTextLinks?: boolean;
    skipImageLinks?: boolean;
    maxHtmlLengthToParse?: number;
  }
  export function simpleParser(source: string | Buffer, options?: ParserOptions): Promise<ParsedMail>;
}
