import { expect } from 'vitest';
import type { Connector } from '../../../services/toolhub/src/connectors/connector.ts';
import { callTool, type Era } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { call, makeToken } from '../../../services/toolhub/test/accounts.ts';
import { createToolhubDatabase, startInstance } from '../../../services/toolhub/test/instance.ts';
import { type Answer, type Customer, newCustomer } from './customer.ts';

/** A tool of the test platform that sends. */
export const SEND = 'alpha_send_note';
/** Everything must be asked for. */
export const ALL = { send: true, delete: true, tools: {} };

export interface Person extends Customer {
  /** Of an AI client. */
  tools: string;
}

type Waiting = { code: string; approval_id: string; approval_url: string; expires_at: string };

/** Two processes on one database, with the test platform. */
export async function startTwoHubs(connector: Connector, now: () => Date) {
  const db = await createToolhubDatabase();
  const options = { now, connectors: [connector], env: { TOOLHUB_RATE: '0' } };
  const here = await startInstance(db.url, options);
  const there = await startInstance(db.url, options);
  return {
    ...{ here, there, database: db.database },
    async close(): Promise<void> {
      await here.stop();
      await there.stop();
      await db.drop();
    },
  };
}

/** People, their clients and the calls that wait for them, on what runs by the time they are asked for. */
export function approvalRig(here: () => string) {
  async function newPerson(): Promise<Person> {
    const customer = await newCustomer(here());
    const { token: tools } = await makeToken(here(), customer, { scopes: ['tools:read', 'tools:write'] });
    const put = { method: 'PUT', body: {}, token: customer.token };
    expect((await call(`${here()}/api/credentials/alpha?verify=false`, put)).status).toBe(200);
    return { ...customer, tools };
  }

  /** As the person does it in the browser. */
  async function asPerson(person: Customer, method: string, path: string, body?: unknown): Promise<Answer> {
    return call(here() + path, { method, cookie: person.cookie, ...(body === undefined ? {} : { body }) });
  }

  const setRules = (person: Customer, rules: object) =>
    asPerson(person, 'PUT', '/api/approvals/rules', rules);

  async function newCareful(): Promise<Person> {
    const person = await newPerson();
    expect((await setRules(person, ALL)).status).toBe(200);
    return person;
  }

  async function send(
    { tools }: Pick<Person, 'tools'>,
    args: Record<string, unknown>,
    options: { tool?: string; url?: string; era?: Era } = {},
  ) {
    const { tool = SEND, url = here(), era = 'modern' } = options;
    const { body } = await callTool(url, tools, tool, args, { era });
    const error = body.result?.structuredContent?.error as Waiting | undefined;
    expect(body.result?.isError === true).toBe(error !== undefined);
    return { error, content: body.result?.structuredContent };
  }

  async function waitFor(person: Person, args: Record<string, unknown>, tool = SEND): Promise<Waiting> {
    const { error } = await send(person, args, { tool });
    expect(error?.code).toBe('approval_required');
    return error as Waiting;
  }

  const used = async ({ token }: Customer): Promise<number> =>
    ((await call(`${here()}/api/plan`, { token })).body as { used: number }).used;

  return { newPerson, newCareful, asPerson, setRules, send, waitFor, used };
}
