import { claimPhoneNumber, releasePhoneNumber } from '../../inbound/phone-numbers.ts';
import { type Connector, ConnectorError, defineConnector } from '../connector.ts';
import { path } from '../vendor-api/path.ts';
import { probeBy, verifyBy } from '../vendor-api/probe.ts';
import {
  callWhatsapp,
  shape,
  WHATSAPP_URL,
  type WhatsappContext,
  type WhatsappCredential,
  whatsappCredentialSchema,
} from './api.ts';
import { whatsappTools } from './tools.ts';

/**
 * Messages from WhatsApp go to whoever holds the number, so a number is held only by a customer whose token WhatsApp
 * accepted for it. What the tools read was stored by `inbound/`.
 */
export function createWhatsappConnector(): Connector {
  return defineConnector<WhatsappCredential>({
    id: 'whatsapp',
    title: 'WhatsApp',
    apiUrl: WHATSAPP_URL,
    auth: {
      kind: 'token',
      credentialSchema: whatsappCredentialSchema,
      secretFields: ['/access_token'],
      accountLabel: ({ phone_number_id }) => `number ${phone_number_id}`,
      alwaysVerified: true,
    },
    verify: (context) => verifyBy(() => readNumber(context)),
    health: (context) => probeBy(() => readNumber(context)),
    tools: whatsappTools(),
    claim: (tx, { customerId, credential, at }) =>
      claimPhoneNumber(tx, { customerId, phoneNumberId: credential.phone_number_id, at }),
    forget: releasePhoneNumber,
  });
}

/** What the number is called, for which WhatsApp has to show it to this token. */
async function readNumber(context: WhatsappContext): Promise<string> {
  const { phone_number_id: id } = context.credential;
  const { body } = await callWhatsapp(context, {
    path: path`/${id}`,
    query: { fields: 'id,display_phone_number,verified_name' },
    // Asked once: whoever stores a credential waits for the answer and can try again.
    repeatable: false,
  });
  const number = shape.object(body);
  // An alias such as `me` is answered with the id of something else, which proves nothing about a number.
  if (String(number.id) !== id)
    throw new ConnectorError('platform_error', 'WhatsApp knows no phone number of this id', {
      platformCode: 'not_a_number',
    });
  const { display_phone_number: shown } = number;
  return typeof shown === 'string' && shown !== '' ? shown : `number ${id}`;
}
