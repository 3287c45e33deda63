// WhatsApp's Cloud API written from https://developers.facebook.com/docs/whatsapp/cloud-api: the methods that the
// connector calls, with the documented answers and errors.
import { graphPage, graphRefusal, unknownObject, withToken } from '../graph.ts';
import { type Reply, startVendorServer, type VendorServer } from '../vendor-server.ts';

export interface WhatsappServer extends VendorServer {
  /** Token → phone number id. */
  tokens: Map<string, string>;
  sent: Record<string, unknown>[];
  /** Messages of people that were marked as read. */
  read: Set<string>;
  /** People who wrote within 24 hours. */
  open: Set<string>;
}

export const BUSINESS = '102290129340398';
const TEMPLATES = ['hello_world', 'order_shipped', 'invoice_due'];

export async function startWhatsapp(port = 0): Promise<WhatsappServer> {
  const tokens = new Map<string, string>();
  const sent: Record<string, unknown>[] = [];
  const read = new Set<string>();
  const open = new Set<string>();

  function accept(body: Record<string, unknown>): Reply {
    if (body.messaging_product !== 'whatsapp')
      return graphRefusal(400, 100, '(#100) The parameter messaging_product is required.');
    if (body.status === 'read') {
      read.add(String(body.message_id));
      return { json: { success: true } };
    }
    // A phone number, else the id that stands for somebody at this business.
    const [to, byId] = [body.to, body.recipient].map((one) => (one === undefined ? undefined : String(one)));
    const person = to ?? byId;
    const isNumber = /^[0-9]+$/.test(to ?? '');
    if (person === undefined || (to !== undefined && !isNumber))
      return graphRefusal(400, 100, '(#100) Invalid parameter');
    if (body.type !== 'template' && !open.has(person))
      return graphRefusal(400, 131_047, '(#131047) Re-engagement message', {
        error_data: {
          messaging_product: 'whatsapp',
          details: 'More than 24 hours have passed since the person wrote.',
        },
      });
    const { name } = (body.template ?? {}) as { name?: string };
    if (body.type === 'template' && !TEMPLATES.includes(name ?? ''))
      return graphRefusal(404, 132_001, '(#132001) Template name does not exist in the translation');
    sent.push(body);
    return {
      json: {
        messaging_product: 'whatsapp',
        contacts: [{ input: person, ...(isNumber ? { wa_id: person } : { user_id: person }) }],
        messages: [{ id: `wamid.HBgLMTY1${sent.length}==`, message_status: 'accepted' }],
      },
    };
  }

  const server = await startVendorServer(
    'WhatsApp',
    {
      'GET /*/message_templates': withToken(tokens, (request, _owner, [id]) =>
        id === BUSINESS
          ? graphPage(
              request,
              TEMPLATES.map((name, index) => ({
                ...{
                  id: String(5_000 + index),
                  name,
                  language: 'en_US',
                  status: 'APPROVED',
                  category: 'UTILITY',
                },
                components: [{ type: 'BODY', text: 'Hello {{1}}' }],
              })),
            )
          : unknownObject(id),
      ),
      'POST /*/messages': withToken(tokens, (request, owner, [id]) =>
        id === owner ? accept(request.body as Record<string, unknown>) : unknownObject(id),
      ),
      'GET /*': withToken(tokens, (_request, owner, [id]) =>
        id === owner
          ? { json: { id, display_phone_number: '+1 631-555-5555', verified_name: 'Market' } }
          : unknownObject(id),
      ),
    },
    port,
  );
  return { ...server, tokens, sent, read, open };
}
