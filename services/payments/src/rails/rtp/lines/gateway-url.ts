/** For the settings; the message of the Error completes the name of the setting, and repeats no secret. */
export function readGatewayUrl(text: string): string | Error {
  const url = /^https:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && isUserReadable(url)
    ? text.replace(/\/+$/, '')
    : new Error('must be a URL that begins with https://, with a % in its user or password written as %25');
}

/** Where it is not, no message can be sent, which would come out when the first has been noted as handed over. */
function isUserReadable({ username, password }: URL): boolean {
  try {
    for (const part of [username, password]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
