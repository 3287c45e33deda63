// As a user gets it: a wheel and a source archive that are built and installed without a network, in a bare folder.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../tests/contract/payments/harness.ts';
import { installedPython, packedPythonSdk } from '../../test/packed.ts';

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

test('the wheel, installed into an empty environment, pays', async () => {
  writeFileSync(join(folder, 'journey.py'), journey);
  const { test: apiKey } = await harness.organisation();
  const { stdout, stderr } = await run(await installedPython(), ['-W', 'error', '-X', 'dev', 'journey.py'], {
    cwd: folder,
    env: { KEY: apiKey, URL: harness.url, PYTHONDONTWRITEBYTECODE: '1' },
  });
  expect(JSON.parse(stdout)).toEqual(['completed', '/amount', 'payment.completed', 1]);
  expect(stderr).toBe('');
}, 120_000);

test('the source archive builds and installs without a network, and gives the same wheel', async () => {
  const { archive, wheel } = await packedPythonSdk();
  const quiet = ['--no-index', '--no-deps', '--quiet', '--disable-pip-version-check'];
  await run('python3', ['-m', 'pip', 'wheel', ...quiet, '--wheel-dir', folder, archive]);
  const name = wheel.split('/').at(-1) as string;
  const { stdout } = await run('cmp', [wheel, join(folder, name)]);
  expect(stdout).toBe('');
}, 120_000);

test('both carry the licence and the types, and nothing of the tests', async () => {
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
