// A platform as somebody would add it: this folder is all of it but its words for the pages.
import { type Static, Type } from 'typebox';
import {
  type Connector,
  ConnectorError,
  defineConnector,
  defineTool,
  type ToolContext,
} from '../../src/connectors/connector.ts';
import { probeBy, verifyBy } from '../../src/connectors/vendor-api/probe.ts';

const VENDOR_URL = 'https://pigeons.example';

const credentialSchema = Type.Object(
  { ring_number: Type.String({ minLength: 1, maxLength: 100 }) },
  { additionalProperties: false },
);
type Context = ToolContext<Static<typeof credentialSchema>>;

async function ask(context: Context, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await context.fetch(`${context.baseUrl ?? VENDOR_URL}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: context.credential.ring_number, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status === 401) throw new ConnectorError('token_expired', 'the pigeon does not know this ring');
  return (await answer.json()) as Record<string, unknown>;
}

const send = defineTool({
  name: 'pigeon_send_letter',
  title: 'Send a letter',
  description: 'Ties a letter to a pigeon.',
  class: 'W',
  inputSchema: Type.Object({ to: Type.String(), text: Type.String() }, { additionalProperties: false }),
  outputSchema: Type.Object({ letter_id: Type.String() }, { additionalProperties: false }),
  async run(args, context: Context) {
    return { letter_id: String((await ask(context, '/letters', args)).id) };
  },
});

export function createPigeonConnector(): Connector {
  return defineConnector({
    id: 'pigeon',
    title: 'Carrier pigeons',
    apiUrl: VENDOR_URL,
    auth: {
      kind: 'token',
      credentialSchema,
      secretFields: ['/ring_number'],
      accountLabel: () => 'a pigeon',
    },
    tools: [send],
    verify: (context: Context) => verifyBy(() => readOwnName(context)),
    health: (context: Context) => probeBy(() => readOwnName(context)),
  });
}

const readOwnName = async (context: Context) => String((await ask(context, '/me')).name);
