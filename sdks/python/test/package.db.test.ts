// As a user gets it: a wheel and a source archive that are built and installed without a network, in a bare folder.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../tests/contract/payments/harness.ts';
import { installedPython, packedPythonSdk } from '../../test/packed.ts';
import { hasPython } from '../../test/python.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'bare-python-'));
let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0' } });
});
afterAll(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true, force: true });
});

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

const receiving = `

import json, threading, urllib.error, urllib.request
Receiver.log_message = lambda *_: None
server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
body = json.dumps({"id": "evt_1", "type": "payment.completed", "data": {"id": "pay_1"}}).encode()
statuses = []
for headers in (webhooks.sign(body, os.environ["WEBHOOK_SECRET"]), {}):
    request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}", body, headers)
    try:
        statuses.append(urllib.request.urlopen(request).status)
    except urllib.error.HTTPError as error:
        statuses.append(error.code)
print(*statuses)
`;

const journey = `
import base64, json, os, sys
from payments_api import InvalidRequestError, Payments

client = Payments(os.environ["KEY"], os.environ["URL"])
body = {
    "amount": 2500, "currency": "USD", "rail": "rtp",
    "source": {"payment_method_id": "pm_alice"}, "destination": {"payment_method_id": "pm_bob"},
}
payment = client.payments.wait_for(client.payments.create(**body).id, "completed")
try:
    client.payments.create(**{**body, "amount": -1})
except InvalidRequestError as error:
    pointer = error.errors[0].pointer
secret = "whsec_" + base64.b64encode(b"1" * 32).decode()
text = json.dumps({"id": "evt_1", "type": "payment.completed"})
event = client.webhooks.verify(text, client.webhooks.sign(text, secret), secret)
print(json.dumps([payment.status, pointer, event.type, len(client.payments.list(limit=1).page().data)]))
`;

test.runIf(hasPython)(
  'the wheel, installed into an empty environment, pays',
  async () => {
    writeFileSync(join(folder, 'journey.py'), journey);
    const { test: apiKey } = await harness.organisation();
    const { stdout, stderr } = await run(
      await installedPython(),
      ['-W', 'error', '-X', 'dev', 'journey.py'],
      {
        cwd: folder,
        env: { KEY: apiKey, URL: harness.url, PYTHONDONTWRITEBYTECODE: '1' },
      },
    );
    expect(JSON.parse(stdout)).toEqual(['completed', '/amount', 'payment.completed', 1]);
    expect(stderr).toBe('');
  },
  120_000,
);

test.runIf(hasPython)(
  'the README, block by block',
  async () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const blocks = [...readme.matchAll(/^```python\n([\s\S]*?)^```/gm)].map(([, text]) =>
      (text as string).replaceAll('http://localhost:4000', harness.url),
    );
    const env = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' };
    const python = await installedPython();
    const find = (sign: string) => blocks.find((text) => text.includes(sign)) as string;
    const runBlock = async (sign: string, more = '') =>
      (
        await run(
          python,
          ['-c', find(sign).replace('__name__ == "__main__"', more === '' ? 'True' : 'False') + more],
          { cwd: folder, env: { ...env, WEBHOOK_SECRET: SECRET } },
        )
      ).stdout;

    const first = await runBlock('payments.create(');
    expect(first).toMatch(/^pay_\w+ pending (rtp|ach)/);
    expect(first).toContain('completed');
    expect(await runBlock('AsyncPayments(')).toContain(first.split(' ')[0]);
    // The receiver, on a free port, is sent one message that is signed and one that is not.
    const told = await runBlock('class Receiver', receiving);
    expect(told.trim().split('\n')).toEqual(['payment.completed pay_1', '204 400']);
  },
  120_000,
);

test.runIf(hasPython)(
  'the source archive builds and installs without a network, and gives the same wheel',
  async () => {
    const { archive, wheel } = await packedPythonSdk();
    const quiet = ['--no-index', '--no-deps', '--quiet', '--disable-pip-version-check'];
    await run('python3', ['-m', 'pip', 'wheel', ...quiet, '--wheel-dir', folder, archive]);
    const name = wheel.split('/').at(-1) as string;
    const { stdout } = await run('cmp', [wheel, join(folder, name)]);
    expect(stdout).toBe('');
  },
  120_000,
);

test.runIf(hasPython)(
  'an editable installation is led to the sources, and hears of what changes there',
  async () => {
    const sources = join(folder, 'sources');
    cpSync(new URL('..', import.meta.url), sources, { recursive: true });
    const [environment, quiet] = [
      join(folder, 'editable'),
      ['--no-index', '--quiet', '--disable-pip-version-check'],
    ];
    await run('python3', ['-m', 'venv', '--without-pip', environment]);
    const python = join(environment, 'bin', 'python');
    await run('python3', ['-m', 'pip', '--python', python, 'install', ...quiet, '-e', sources]);
    writeFileSync(join(sources, 'src', 'payments_api', 'added.py'), 'VALUE = 42\n');
    const program = 'from payments_api import Payments, added; print(Payments("sk_test_x"), added.VALUE)';
    const { stdout } = await run(python, ['-c', program], { cwd: folder });
    expect(stdout).toBe("Payments(base_url='http://localhost:4000') 42\n");
  },
  120_000,
);

test.runIf(hasPython)('both carry the licence and the types, and nothing of the tests', async () => {
  const { archive, wheel } = await packedPythonSdk();
  const list = 'import sys, zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))';
  const inWheel = (await run('python3', ['-c', list, wheel])).stdout.trim().split('\n');
  const inArchive = (await run('tar', ['-tzf', archive])).stdout.trim().split('\n');
  expect(inWheel).toContain('payments_api/py.typed');
  expect(inWheel.filter((path) => path.endsWith('LICENSE'))).toHaveLength(1);
  for (const file of ['README.md', 'CHANGELOG.md', 'LICENSE', 'pyproject.toml', 'PKG-INFO']) {
    expect(inArchive.some((path) => path.endsWith(`/${file}`))).toBe(true);
  }
  expect([...inWheel, ...inArchive].filter((path) => /\btest|__pycache__|\.pyc/.test(path))).toEqual([]);
});
