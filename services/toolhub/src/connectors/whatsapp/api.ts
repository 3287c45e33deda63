import { type Static, Type } from 'typebox';
import type { ToolContext } from '../connector.ts';
import { pastedToken } from '../vendor-api/credential-fields.ts';
import { createGraphApi } from '../vendor-api/graph.ts';
import { shapeOf } from '../vendor-api/shape.ts';

// The Graph API gives every object an id and answers for it at `/{id}`. An id becomes part of an address, so no
// character of it may change the path.
const graphId = (description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    'x-mismatch': 'Must be an id, such as 106540352242922: no spaces and no plus sign.',
    description,
  });

export const whatsappCredentialSchema = Type.Object(
  {
    access_token: pastedToken(
      4_096,
      'Access token with whatsapp_business_messaging and whatsapp_business_management.',
    ),
    phone_number_id: graphId('Id of the phone number, from the API setup of the app; not the number itself.'),
    business_account_id: graphId('Id of the WhatsApp Business account that has the number.'),
  },
  {
    additionalProperties: false,
    title: 'WhatsappCredential',
    examples: [
      { access_token: 'EAAJB0', phone_number_id: '106540352242922', business_account_id: '102290129340398' },
    ],
  },
);

export type WhatsappCredential = Static<typeof whatsappCredentialSchema>;
export type WhatsappContext = ToolContext<WhatsappCredential>;

const TITLE = 'WhatsApp';
export const WHATSAPP_URL = 'https://graph.facebook.com/v24.0';
export const shape = shapeOf(TITLE);

export const callWhatsapp = createGraphApi<WhatsappCredential>({
  title: TITLE,
  url: WHATSAPP_URL,
  token: ({ access_token }) => access_token,
});
