// Where somebody is logged in besides, and with which devices: what the settings of both products show.
import type { Database } from '@libs/db';

const AGENTS = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
];

/** As long as addresses are. */
export const OTHER_ADDRESS = '2001:db8:85a3:0:12:8a2e:370:7334';

/** `column`: by which the product's tables name a person. */
export async function addDevices(
  database: Database,
  column: 'customer_id' | 'person_id',
  personId: string,
): Promise<void> {
  for (const [n, agent] of AGENTS.entries())
    await database.query(
      `insert into sessions (${column}, id, token_hash, created_at, expires_at, ip, user_agent)
       select $1, 'ses_' || lpad($2::text, 26, '0'), sha256(convert_to($3::text, 'UTF8')), now() - interval '3 days',
         now() + interval '27 days', $4, $3::text`,
      [personId, n, agent, OTHER_ADDRESS],
    );
  await database.query(
    `insert into passkeys (${column}, id, credential_id, public_key, counter, transports, name, created_at, last_used_at)
     values ($1, 'psk_' || lpad('1', 26, '0'), 'Y3JlZGVudGlhbA', '\\x00', 0, '{internal}', 'Phone of Ada',
       now() - interval '40 days', now())`,
    [personId],
  );
}
