// The unit tests of the Python client, each counted as a test of its own.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { root } from '../../test/packed.ts';
import { hasPython } from '../../test/python.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const project = join(here, '..');
const MYPY_PATH = '/usr/bin/mypy';
const env = { ...process.env, PYTHONPATH: join(project, 'src'), PYTHONDONTWRITEBYTECODE: '1' };

interface Listed {
  id: string;
  title: string;
}
interface Ran {
  id: string;
  failure: string | null;
}

const parse = <Line>(text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

const script = join(here, 'run.py');
const listed = hasPython
  ? parse<Listed>(execFileSync('python3', [script, '--list'], { env, encoding: 'utf8' }))
  : [];
let ran: Map<string, string | null>;

beforeAll(async () => {
  if (!hasPython) return;
  const { stdout } = await run('python3', ['-W', 'ignore', script], { env, timeout: 110_000 });
  ran = new Map(parse<Ran>(stdout).map(({ id, failure }) => [id, failure]));
}, 120_000);

test.each(listed)('$title', ({ id }) => {
  expect(ran.get(id)).toBeNull();
});

test.runIf(hasPython)('the synchronous client is made from the asynchronous one, and fresh', async () => {
  const checked = await run('python3', [join(project, 'tools', 'unasync.py'), '--check'], { env }).catch(
    (error) => error,
  );
  expect(checked.stdout).toBe('');
});

test.runIf(existsSync(MYPY_PATH))(
  'mypy --strict accepts the package, the programs of the README and a strict user, and refuses what is wrong',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mypy-'));
    writeFileSync(
      join(folder, 'user.py'),
      `
import asyncio
from typing import List, Optional

from payments_api import AsyncPayments, Payments, PaymentsError, webhooks
from payments_api.types import Event, Payment, PaymentMethod, PaymentStatus, WebhookDelivery, WebhookEvent


def pay(client: Payments) -> Payment:
    payment = client.payments.create(
        amount=1, currency="USD", source={"payment_method_id": "a"}, destination={"payment_method_id": "b"},
        routing={"prefer": "speed"}, metadata={"a": "b"}, idempotency_key="k",
    )
    status: PaymentStatus = client.payments.wait_for(payment.id, ["completed", "failed"]).status
    ids: List[str] = [one.id for one in client.payments.list(status="failed")]
    fee: int = payment.fee.amount
    code: Optional[str] = payment.failure.code if payment.failure is not None else None
    event = webhooks.verify(b"", {}, "s")
    print(status, ids, fee, code, event.type)
    try:
        client.sandbox.return_(payment.id, "R01")
    except PaymentsError as error:
        print(error.status, error.errors[0].pointer)
    return payment


def told(event: WebhookEvent) -> Optional[int]:
    wrong: int = event.data.id  # type: ignore[assignment]
    event.data.amount  # type: ignore[union-attr]
    if event.type == "payment.completed":
        return event.data.amount
    if event.type == "payment_method.updated":
        method: PaymentMethod = event.data
        print(method.id, event.data.amount, wrong)  # type: ignore[attr-defined]
    if event.type == "payment.done":  # type: ignore[comparison-overlap]
        return None
    return None


def listed(client: Payments) -> List[Optional[int]]:
    event: Event = client.events.get("evt_1")
    print(event.created_at)
    return [told(one) for one in [event, *client.events.list()]]


def first_response(delivery: WebhookDelivery) -> str:
    return delivery.attempts[0].response  # type: ignore[return-value]


async def pay_async(client: AsyncPayments) -> Payment:
    async for one in client.payments.list(status="failed"):
        return one
    async for event in client.events.stream():
        if event.type == "payment.failed":
            return event.data
    page = await client.payments.list()
    return page.data[0]


asyncio.run(pay_async(AsyncPayments("sk_test_x")))
client = Payments("sk_test_x")
client.payments.list(status="done")  # type: ignore[arg-type]
client.payments.create(currency="USD")  # type: ignore[call-arg]
client.payment_methods.create(type="balance", meta={})  # type: ignore[call-arg]
pay(client).no_such_field  # type: ignore[attr-defined]
`,
    );
    const programs = writePrograms(folder);
    expect(programs.length).toBeGreaterThan(2);
    const said = await checkTypes(folder, [join(project, 'src'), 'user.py', ...programs]);
    rmSync(folder, { recursive: true, force: true });
    expect(said).toMatch(/^Success: no issues found/);
  },
  120_000,
);

/** The programs of the README, as files of this folder. */
function writePrograms(folder: string): string[] {
  const readme = readFileSync(join(project, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```python\n(.*?)^```$/gms)].map(([, text]) => text ?? '');
  const programs = blocks.filter((text) => /^(import|from) /.test(text));
  return programs.map((text, index) => {
    writeFileSync(join(folder, `program_${index}.py`), text);
    return `program_${index}.py`;
  });
}

/** What mypy says of these files; what it knows of the standard library stays for the next run. */
async function checkTypes(folder: string, files: readonly string[]): Promise<string> {
  const cache = ['--cache-dir', join(root, '.cache', 'sdks', 'mypy'), '--no-color-output'];
  const checked = await run(MYPY_PATH, ['--strict', '--warn-unused-ignores', ...cache, ...files], {
    cwd: folder,
    env: { ...env, MYPYPATH: join(project, 'src') },
  }).catch((error) => error);
  return checked.stdout;
}
