import { type CodeSample, markdownTable } from '@libs/docs';
import { SANDBOX_TOKEN } from '../keys/key.ts';
import { asCode } from './figures.ts';
import { isPreparation, type Sample, type SampleCall, samples } from './sample-calls.ts';

const LINE_LENGTH_MAX = 90;

const camel = (name: string) =>
  name.replaceAll(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase());
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const nodeName = ({ operation, node }: SampleCall) => node ?? camel(operation);
const pythonName = (call: SampleCall) => snake(nodeName(call));

/** How a language writes values, and what stands around its calls. */
interface Language {
  lang: string;
  label: string;
  write(sample: Sample, url: string): string;
}

type Writing = {
  key: (name: string) => string;
  text: (value: string) => string;
  /** Between the brackets of an object on one line. */
  pad: string;
  /** After the last of several lines. */
  end: string;
};

/** A value on one line where it fits, otherwise a line for each member. */
function literal(value: unknown, writing: Writing, indent = ''): string {
  if (typeof value === 'string') return writing.text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const deeper = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => literal(item, writing, deeper))
    : Object.entries(value).map(([name, item]) => `${writing.key(name)}${literal(item, writing, deeper)}`);
  const [open, close, pad] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', writing.pad];
  const short = `${open}${pad}${members.join(', ')}${pad}${close}`;
  if (indent.length + short.length <= LINE_LENGTH_MAX / 2 || members.length === 0) return short;
  return `${open}\n${members.map((member) => `${deeper}${member}`).join(',\n')}${writing.end}\n${indent}${close}`;
}

const asJson: Writing = {
  ...{ key: (name) => `"${name}": `, text: (value) => JSON.stringify(value) },
  ...{ pad: ' ', end: '' },
};
const asPython: Writing = { ...asJson, pad: '', end: ',' };
const asNode: Writing = { key: (name) => `${name}: `, text: (value) => `'${value}'`, pad: ' ', end: ',' };

const placeOf = ({ id }: SampleCall) => (id === undefined ? '' : id.toUpperCase());

function curlOf(call: SampleCall, url: string): string {
  const [method = 'GET', path = ''] = call.http.split(' ');
  const query = Object.entries({ ...(call.answer === 'bytes' ? { format: 'csv' } : {}), ...call.query })
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const isStream = call.answer === 'stream';
  const address = `${url}${path.replace('{id}', `$${placeOf(call)}`)}${query === '' ? '' : `?${query}`}`;
  const quoted = /[$?&]/.test(address) ? `"${address}"` : address;
  const isPlain = method === 'GET' || (method === 'POST' && call.body !== undefined);
  const parts = [
    `curl -sS${isStream ? 'N --max-time 2' : ''}${isPlain ? '' : ` -X ${method}`} ${quoted}`,
    `-H 'Authorization: Bearer ${SANDBOX_TOKEN}'`,
    ...(isStream ? [`-H "Last-Event-ID: $${placeOf(call)}"`] : []),
    ...(call.needsKey ? ['-H "Idempotency-Key: $(date +%s)-$RANDOM"'] : []),
    ...(call.body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${literal(call.body, asJson, '  ')}'`]),
  ];
  return parts.join(' \\\n  ');
}

const curl: Language = {
  lang: 'Shell',
  label: 'curl',
  write({ before = [], call, after = [] }, url) {
    const steps = before.map((step) => {
      if (!isPreparation(step)) return `${curlOf(step, url)}; echo`;
      const found = `grep -o '${step.prefix}_[0-9a-z]*' | head -1`;
      return `${step.saves.toUpperCase()}=$(${curlOf(step, url)} | ${found})`;
    });
    const saved = isPreparation(call) ? call : undefined;
    const last =
      saved === undefined || after.length === 0
        ? `${curlOf(call, url)}${call.answer === 'stream' ? ' || true' : ''}`
        : `${curlOf(call, url)} | tee answer.json\n${saved.saves.toUpperCase()}=$(grep -o '${saved.prefix}_[0-9a-z]*' answer.json | head -1)`;
    const isDone = call.operation === after[0]?.operation;
    return [...steps, last, ...(isDone ? [] : after.map((step) => curlOf(step, url)))].join('\n');
  },
};

/** What both SDKs are given: the id, then the rest as one value or as fields. */
interface Given {
  id: string | null;
  bare: unknown;
  fields: Readonly<Record<string, unknown>> | null;
}

function givenTo({ id, body, query, bare, answer }: SampleCall): Given {
  const fields = body ?? query ?? null;
  const [value] = Object.values(fields ?? {});
  if (answer === 'stream') return { id: null, bare: undefined, fields: null };
  return { id: id ?? null, bare: bare ? value : undefined, fields: bare ? null : fields };
}

function nodeCall(call: SampleCall): string {
  const { id, bare, fields } = givenTo(call);
  const given = [
    ...(id === null ? [] : [`${id}.id`]),
    ...(bare === undefined ? [] : [literal(bare, asNode)]),
    ...(fields === null ? [] : [literal(fields, asNode)]),
  ];
  if (call.answer === 'stream') given.push(`{ lastEventId: ${call.id}.id }`);
  return `client.${nodeName(call)}(${given.join(', ')})`;
}

const node: Language = {
  lang: 'JavaScript',
  label: 'Node',
  write({ before = [], call, after = [] }, url) {
    const lines = before.map((step) => {
      if (!isPreparation(step)) return `await ${nodeCall(step)};`;
      if (step.answer === 'list') return `const [${step.saves}] = (await ${nodeCall(step)}.page()).data;`;
      return `const ${step.saves} = await ${nodeCall(step)};`;
    });
    const saved = isPreparation(call) && after.length > 0 ? call.saves : 'answer';
    const last = {
      object: `const ${saved} = await ${nodeCall(call)};\nconsole.log(${saved});`,
      list: `for await (const item of ${nodeCall(call)}) console.log(item);`,
      stream: `for await (const next of ${nodeCall(call)}) {\n  console.log(next.type);\n  break;\n}`,
      bytes: `for await (const chunk of ${nodeCall(call)}) process.stdout.write(chunk);`,
      nothing: `await ${nodeCall(call)};`,
    }[call.answer ?? 'object'];
    const isDone = call.operation === after[0]?.operation;
    return [
      "import { Payments } from 'payments-api';",
      '',
      `const client = new Payments({ apiKey: '${SANDBOX_TOKEN}', baseUrl: '${url}' });`,
      '',
      ...lines,
      last,
      ...(isDone ? [] : after.map((step) => `await ${nodeCall(step)};`)),
    ].join('\n');
  },
};

function pythonCall(call: SampleCall): string {
  const { id, bare, fields } = givenTo(call);
  const named = Object.entries(fields ?? {}).map(
    ([name, value]) => `${name}=${literal(value, asPython, '    ')}`,
  );
  const given = [
    ...(id === null ? [] : [`${id}.id`]),
    ...(bare === undefined ? [] : [literal(bare, asPython)]),
    ...named,
  ];
  if (call.answer === 'stream') given.push(`last_event_id=${call.id}.id`);
  const name = `client.${pythonName(call)}`;
  const short = `${name}(${given.join(', ')})`;
  if (short.length <= LINE_LENGTH_MAX && !short.includes('\n')) return short;
  return `${name}(\n${given.map((one) => `    ${one},`).join('\n')}\n)`;
}

const python: Language = {
  lang: 'Python',
  label: 'Python',
  write({ before = [], call, after = [] }, url) {
    const lines = before.map((step) => {
      if (!isPreparation(step)) return pythonCall(step);
      if (step.answer === 'list') return `[${step.saves}] = ${pythonCall(step)}.page().data`;
      return `${step.saves} = ${pythonCall(step)}`;
    });
    const saved = isPreparation(call) && after.length > 0 ? call.saves : 'answer';
    const last = {
      object: `${saved} = ${pythonCall(call)}\nprint(${saved})`,
      list: `for item in ${pythonCall(call)}:\n    print(item)`,
      stream: `for following in ${pythonCall(call)}:\n    print(following.type)\n    break`,
      bytes: `for chunk in ${pythonCall(call)}:\n    print(chunk.decode(), end="")`,
      nothing: pythonCall(call),
    }[call.answer ?? 'object'];
    const isDone = call.operation === after[0]?.operation;
    return [
      'from payments_api import Payments',
      '',
      `client = Payments("${SANDBOX_TOKEN}", "${url}")`,
      '',
      ...lines,
      last,
      ...(isDone ? [] : after.map(pythonCall)),
    ].join('\n');
  },
};

const languages: readonly Language[] = [curl, node, python];

/** Code for every operation, by its id. */
export function codeSamples(url: string): ReadonlyMap<string, readonly CodeSample[]> {
  return new Map(
    samples.map((sample) => [
      sample.call.operation,
      languages.map(({ lang, label, write }) => ({ lang, label, source: write(sample, url) })),
    ]),
  );
}

/** The methods of both SDKs by resource. */
export function methodsTable(): string {
  const byResource = new Map<string, { node: string[]; python: string[] }>();
  const extra: SampleCall[] = [
    { operation: 'payments.wait_for', http: 'GET /v1/payments/{id}' },
    { operation: 'sandbox.advance_clock', http: 'POST /v1/sandbox/clock' },
    { operation: 'sandbox.set_clock', http: 'POST /v1/sandbox/clock' },
    { operation: 'webhooks.verify', http: 'GET /v1/payments' },
    { operation: 'webhooks.sign', http: 'GET /v1/payments' },
  ];
  for (const call of [...samples.map((sample) => sample.call), ...extra]) {
    const [resource = '', method = ''] = nodeName(call).split('.');
    const own = byResource.get(resource) ?? { node: [], python: [] };
    const name = pythonName(call).split('.')[1] ?? '';
    if (!own.node.includes(method)) {
      own.node.push(method);
      own.python.push(name);
    }
    byResource.set(resource, own);
  }
  return markdownTable(
    ['Resource in Node', 'Methods', 'In Python'],
    [...byResource].map(([resource, own]) => [
      asCode(resource),
      own.node.map(asCode).join(', '),
      `${asCode(snake(resource))}: ${own.python.map(asCode).join(', ')}`,
    ]),
  );
}
