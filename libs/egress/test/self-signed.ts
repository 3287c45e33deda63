import { createSign, generateKeyPairSync } from 'node:crypto';

// A certificate made anew for each run, so that no key lies in the repository and none expires.

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const BOOLEAN = 0x01;

function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 128) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length);
  return Buffer.concat([Buffer.of(tag, 0x82), length, body]);
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const COMMON_NAME = der(OBJECT_ID, bytes('550403'));
const ECDSA_WITH_SHA256 = der(SEQUENCE, der(OBJECT_ID, bytes('2a8648ce3d040302')));
const SUBJECT_ALT_NAME = der(OBJECT_ID, bytes('551d11'));
const BASIC_CONSTRAINTS = der(OBJECT_ID, bytes('551d13'));

function utcTime(at: Date): Buffer {
  const text = at.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(UTC_TIME, Buffer.from(`${text}Z`));
}

const HOUR_MS = 3_600_000;

/** Valid for the hour before and the hour after this moment, or until another one. */
export function makeSelfSigned(
  names: readonly string[],
  { endsAt = new Date(Date.now() + HOUR_MS) }: { endsAt?: Date } = {},
): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(names[0] ?? 'test')))),
  );
  const beginsAt = new Date(Math.min(Date.now(), endsAt.getTime()) - HOUR_MS);
  const validity = der(SEQUENCE, utcTime(beginsAt), utcTime(endsAt));
  const altNames = der(SEQUENCE, ...names.map((one) => der(0x82, Buffer.from(one))));
  const extensions = der(
    0xa3,
    der(
      SEQUENCE,
      der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, altNames)),
      der(
        SEQUENCE,
        BASIC_CONSTRAINTS,
        der(BOOLEAN, Buffer.of(255)),
        der(OCTET_STRING, der(SEQUENCE, der(BOOLEAN, Buffer.of(255)))),
      ),
    ),
  );
  const toBeSigned = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.of(2))),
    der(INTEGER, Buffer.of(1)),
    ECDSA_WITH_SHA256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const signature = createSign('sha256').update(toBeSigned).sign(privateKey);
  const certificate = der(SEQUENCE, toBeSigned, ECDSA_WITH_SHA256, der(BIT_STRING, Buffer.of(0), signature));
  // Joined and not ended by line breaks: after a full last line there would be an empty one, which OpenSSL refuses.
  const base64 = certificate
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
