// A device in software: makes and uses passkeys as WebAuthn describes (ES256, no attestation).
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

const FLAG_PRESENT = 0x01;
const FLAG_VERIFIED = 0x04;
const FLAG_NEW_CREDENTIAL = 0x40;

export interface DeviceOptions {
  /** Where the browser believes to be. */
  origin: string;
  host: string;
  /** Whether it asks for a finger or a PIN. */
  verifies?: boolean;
}

interface Question {
  challenge: string;
  user?: { id: string };
}

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest();
const base64url = (data: Buffer) => data.toString('base64url');

export class SoftwareAuthenticator {
  readonly #options: DeviceOptions;
  readonly #id = randomBytes(16);
  readonly #key: { publicKey: KeyObject; privateKey: KeyObject };
  #userHandle = '';
  #counter = 0;

  constructor(options: DeviceOptions) {
    this.#options = options;
    this.#key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  /** The answer to the options of a registration. */
  create(question: Question) {
    this.#userHandle = question.user?.id ?? '';
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const authData = Buffer.concat([
      this.#head(FLAG_NEW_CREDENTIAL),
      Buffer.alloc(16),
      length,
      this.#id,
      this.#coseKey(),
    ]);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(authData.length);
    // CBOR: a map of fmt "none", attStmt {} and authData.
    const attestationObject = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
      Buffer.from([0x59]),
      size,
      authData,
    ]);
    return this.#answer({
      clientDataJSON: base64url(this.#clientData('webauthn.create', question)),
      attestationObject: base64url(attestationObject),
      transports: ['internal'],
    });
  }

  /** The answer to the options of a login. */
  get(question: Question) {
    const clientData = this.#clientData('webauthn.get', question);
    const authenticatorData = this.#head(0);
    const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
    return this.#answer({
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(authenticatorData),
      signature: base64url(sign('sha256', signed, this.#key.privateKey)),
      userHandle: this.#userHandle,
    });
  }

  #answer<Response extends object>(response: Response) {
    const id = base64url(this.#id);
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  #clientData(type: string, { challenge }: Question): Buffer {
    const { origin } = this.#options;
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  #head(flags: number): Buffer {
    const counter = Buffer.alloc(4);
    this.#counter += 1;
    counter.writeUInt32BE(this.#counter);
    const verified = this.#options.verifies === false ? 0 : FLAG_VERIFIED;
    return Buffer.concat([
      sha256(this.#options.host),
      Buffer.from([flags | FLAG_PRESENT | verified]),
      counter,
    ]);
  }

  /** CBOR: kty EC2, alg ES256, crv P-256, x, y. */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#key.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
  }
}
