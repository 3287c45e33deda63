import {
  ActionButton,
  ApiFormView,
  Facts,
  fromClockField,
  Panel,
  QueryView,
  toast,
  toClockField,
  useApiForm,
  viewersZone,
  When,
} from '@libs/ui';
import { Badge, Group, Stack, Text, TextInput } from '@mantine/core';
import { client, refresh, useObject } from '../api/client.ts';
import { POLL_MS } from '../api/polling.ts';
import type { SandboxClock } from '../api/types.ts';
import { texts } from '../texts.ts';
import { upcomingWindows } from './windows.ts';

const words = texts.sandbox;
const CLOCK_PATH = '/v1/sandbox/clock';
const WINDOWS_SHOWN = 4;

async function move(body: { now: string } | { advance: string }, idempotencyKey: string): Promise<void> {
  await client.post(CLOCK_PATH, body, { idempotencyKey });
  await refresh('/v1');
  toast.done(words.moved);
}

/** Days of ACH in seconds: the organisation's time stands still, jumps to the next window, or runs. */
export function ClockPanel() {
  const query = useObject<SandboxClock>(CLOCK_PATH, { refetchMs: POLL_MS });
  return (
    <Panel title={words.clock}>
      <QueryView query={query}>{(clock) => <ClockView clock={clock} />}</QueryView>
    </Panel>
  );
}

function ClockView({ clock }: { clock: SandboxClock }) {
  return (
    <Stack>
      <Facts
        facts={[
          [words.clockNow, <When key="now" at={clock.now} withZone />],
          [words.clockState, <ClockState key="state" state={clock.state} />],
        ]}
      />
      <Group gap="xs">
        {Object.entries(words.advance).map(([advance, label]) => (
          <ActionButton key={advance} onAct={(key) => move({ advance }, key)}>
            {label}
          </ActionButton>
        ))}
        {clock.state === 'frozen' ? null : (
          // Not by the time that the page read a moment ago: that has passed, and the clock never goes back.
          <ActionButton onAct={(key) => move({ advance: 'PT0S' }, key)}>{words.freeze}</ActionButton>
        )}
        {clock.state === 'frozen' ? (
          <ActionButton
            onAct={async () => {
              await client.delete(CLOCK_PATH);
              await refresh('/v1');
              toast.done(words.freed);
            }}
          >
            {words.free}
          </ActionButton>
        ) : null}
      </Group>
      <div>
        <Text size="sm" fw={600} mb={6}>
          {words.windows}
        </Text>
        <Group gap="xs" role="group" aria-label={words.windows}>
          {upcomingWindows(new Date(clock.now), WINDOWS_SHOWN)
            .map((at) => at.toISOString())
            .map((at) => (
              <ActionButton key={at} onAct={(key) => move({ now: at }, key)}>
                <When at={at} withZone />
              </ActionButton>
            ))}
        </Group>
      </div>
      <SetForm now={clock.now} />
    </Stack>
  );
}

function ClockState({ state }: { state: SandboxClock['state'] }) {
  return (
    <Group gap="xs">
      <Badge color={state === 'frozen' ? 'blue' : 'gray'}>{words.clockNames[state]}</Badge>
      <Text size="sm" c="dimmed">
        {words.clockStates[state]}
      </Text>
    </Group>
  );
}

function SetForm({ now }: { now: string }) {
  const api = useApiForm({
    initialValues: { now: toClockField(new Date(now)) },
    draftName: 'clock',
    validate: { now: (value: string) => (fromClockField(value) === undefined ? words.notATime : null) },
    fieldOfCode: { clock_backwards: 'now', clock_too_far: 'now' },
    send: (values, key) => move({ now: fromClockField(values.now)?.toISOString() ?? '' }, key),
  });
  return (
    <ApiFormView api={api} submitLabel={words.set}>
      <TextInput
        type="datetime-local"
        step={1}
        label={words.setTo}
        description={words.setHint(viewersZone)}
        {...api.form.getInputProps('now')}
      />
    </ApiFormView>
  );
}
