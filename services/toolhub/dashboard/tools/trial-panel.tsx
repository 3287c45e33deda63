import {
  ConnectionLost,
  Icon,
  JsonBlock,
  newIdempotencyKey,
  Panel,
  ProblemView,
  RestoredNote,
  SubmitButton,
  useDraft,
  wordsOfCode,
} from '@libs/ui';
import { Alert, Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { CALL_LONGEST_MS } from '../../src/calls/call-times.ts';
import { STILL_RUNNING } from '../../src/calls/still-running.ts';
import { client, refresh } from '../api/client.ts';
import { platformTitle, useCredentials } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { type Field, fieldAt, fieldsOf, NotJson, type Typed, valuesOf } from './schema.ts';
import { halfFilledErrors, SchemaFields } from './schema-fields.tsx';
import { TOOLS_PATH, type ToolDetail } from './tool.ts';

const words = texts.trial;
/** Giving up ends the call: longer than the server may take, and what its answer needs to come. */
const WAIT_MS = CALL_LONGEST_MS + 10_000;
const NOT_ASKED: ReadonlySet<string> = new Set(['idempotency_key', 'approval_id']);

interface TrialError {
  code: string;
  message: string;
  connect_url?: string;
  upgrade_url?: string;
  approval_url?: string;
  errors?: { pointer: string; code: string; detail: string }[];
}

interface Trial {
  tool: string;
  is_error: boolean;
  content: Record<string, unknown> & { error?: TrialError };
}

/** A real call on the customer's own account, made from the tool's schema. */
export function TrialPanel({ tool }: { tool: ToolDetail }) {
  const properties = tool.input_schema.properties ?? {};
  const fields = fieldsOf(tool.input_schema).filter(({ name }) => !NOT_ASKED.has(name));
  const draft = useDraft({
    name: 'trial',
    current: () => (Object.keys(typed).length === 0 ? undefined : typed),
  }) as Typed | undefined;
  const [typed, setTyped] = useState<Typed>(draft ?? {});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [answer, setAnswer] = useState<Trial>();
  const [problem, setProblem] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const intention = useRef({ text: '', key: '' });

  const run = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const half = halfFilledErrors(event.currentTarget);
    setErrors(half);
    setProblem(undefined);
    if (Object.keys(half).length > 0) return setAnswer(undefined);
    setBusy(true);
    try {
      const values = valuesOf(fields, typed);
      const text = JSON.stringify(values);
      // Pressed again after a lost answer, the same call sends nothing twice.
      if (intention.current.text !== text) intention.current = { text, key: newIdempotencyKey() };
      const once = 'idempotency_key' in properties ? { idempotency_key: intention.current.key } : {};
      const path = `${TOOLS_PATH}/${encodeURIComponent(tool.name)}/call`;
      const body = { arguments: { ...values, ...once } };
      const result = await client.post<Trial>(path, body, { timeoutMs: WAIT_MS });
      // With another key the next press would make a call a second time that still runs.
      if (result.content.error?.message !== STILL_RUNNING) intention.current = { text: '', key: '' };
      setAnswer(result);
      setErrors(fieldErrors(result));
      await refresh('/api/audit', '/api/usage', '/api/plan');
    } catch (error) {
      setAnswer(undefined);
      if (error instanceof NotJson) setErrors({ [error.field]: words.notJson });
      else setProblem(error);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Panel title={words.title} lead={tool.class === 'R' ? words.lead : words.leadActs}>
      <form onSubmit={(event) => void run(event)} noValidate>
        <Stack>
          {draft === undefined || answer !== undefined ? null : <RestoredNote />}
          <NotConnected platform={tool.platform} />
          <SchemaFields
            fields={fields}
            typed={typed}
            errors={errors}
            onType={(name, value) => setTyped((before) => ({ ...before, [name]: value }))}
          />
          <Group justify="space-between">
            <Text size="sm" c="dimmed">
              {words.counts}
            </Text>
            <SubmitButton
              sending={busy}
              leftSection={<Icon name="bolt" size={16} />}
              disabled={!tool.enabled}
            >
              {words.run}
            </SubmitButton>
          </Group>
        </Stack>
      </form>
      <Stack mt={tool.enabled && problem === undefined && answer === undefined ? 0 : 'lg'} aria-live="polite">
        {tool.enabled ? null : (
          <Alert color="gray" role="note">
            {words.switchedOff}
          </Alert>
        )}
        {problem === undefined ? null : <Refusal error={problem} />}
        {answer === undefined ? null : <Answer answer={answer} fields={fields} />}
      </Stack>
    </Panel>
  );
}

function NotConnected({ platform }: { platform: string | null }) {
  const connected = useCredentials().data?.data;
  if (platform === null || connected === undefined) return null;
  if (connected.some((each) => each.platform === platform)) return null;
  return (
    <Alert color="gray" role="note">
      {words.notConnected(platformTitle(platform))}{' '}
      <Anchor component={Link} to="/connections/$platform" params={{ platform } as never} inherit>
        {words.connectNow}
      </Anchor>
    </Alert>
  );
}

function Refusal({ error }: { error: unknown }) {
  if (!(error instanceof ConnectionLost)) return <ProblemView error={error} />;
  return (
    <Alert color="orange" role="alert" title={words.lost}>
      {words.lostNext}
    </Alert>
  );
}

function Answer({ answer, fields }: { answer: Trial; fields: readonly Field[] }) {
  const { error } = answer.content;
  const link = error?.connect_url ?? error?.upgrade_url ?? error?.approval_url;
  return (
    <>
      {error === undefined ? (
        <Alert color="teal" role="status" py="xs">
          {words.done}
        </Alert>
      ) : (
        <Alert color="orange" role="alert" title={wordsOfCode(error.code)}>
          {areAtFields(answer, fields) ? words.atFields : error.message}{' '}
          {link === undefined ? null : <Anchor href={ownPath(link)}>{words.there}</Anchor>}
        </Alert>
      )}
      <JsonBlock value={answer.content} label={words.result} />
    </>
  );
}

/** What is wrong stands at the fields, in words; the message names them as programs do. */
function areAtFields(answer: Trial, fields: readonly Field[]): boolean {
  const faults = answer.content.error?.errors ?? [];
  return faults.length > 0 && faults.every(({ pointer }) => fieldAt(pointer, fields) !== undefined);
}

/** The same page, wherever this service is reached at. */
function ownPath(link: string): string {
  const { pathname, search } = new URL(link);
  return `${pathname}${search}`;
}

function fieldErrors({ content }: Trial): Record<string, string> {
  const faults = content.error?.errors ?? [];
  return Object.fromEntries(
    faults.map(({ pointer, code, detail }) => [
      pointer.split('/')[1] ?? '',
      // Of a text in another form the tool says the pattern, which is for programs.
      code === 'invalid_format' ? words.otherForm : detail,
    ]),
  );
}
