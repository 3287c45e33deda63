import { createHmac, timingSafeEqual } from 'node:crypto';

/** Whether `X-Hub-Signature-256` was made over exactly these bytes. */
export function hasValidSignature(body: Buffer, header: string | undefined, appSecret: string): boolean {
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(header ?? '')?.[1];
  if (hex === undefined) return false;
  const expected = createHmac('sha256', appSecret).update(body).digest();
  return timingSafeEqual(Buffer.from(hex, 'hex'), expected);
}
