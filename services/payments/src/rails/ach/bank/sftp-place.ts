/** Where the bank's server is, and as whom we come there. */
export interface SftpPlace {
  host: string;
  port: number;
  username: string;
  /** Null where the bank takes our key alone. */
  password: string | null;
  folder: string;
}

const PORT_DEFAULT = 22;
const FAULT = 'must be sftp://user@host:port/folder, with % written as %25, # as %23 and ? as %3F';

/** Reads `sftp://user:password@host:port/folder`; the message of the Error completes the name of the setting, and repeats no secret. */
export function readSftpPlace(text: string): SftpPlace | Error {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'sftp:' || url.hostname === '' || url.username === '') return new Error(FAULT);
  // What stands behind the folder would be left out of it without a word.
  if (url.port === '0' || url.search !== '' || url.hash !== '') return new Error(FAULT);
  try {
    return {
      host: withoutBrackets(url.hostname),
      port: Number(url.port || PORT_DEFAULT),
      username: decodeURIComponent(url.username),
      password: url.password === '' ? null : decodeURIComponent(url.password),
      folder: decodeURIComponent(url.pathname),
    };
  } catch {
    return new Error(FAULT);
  }
}

/** For the settings, which hold the address itself. */
export function readSftpUrl(text: string): string | Error {
  const place = readSftpPlace(text);
  return place instanceof Error ? place : text;
}

/** A URL brackets an IPv6 address; a socket would look for a name with brackets. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
