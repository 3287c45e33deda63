import { Icon, Panel } from '@libs/ui';
import { Badge, Button, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import { mode } from '../api/mode.ts';
import type { Payment, Session, WebhookEndpoint } from '../api/types.ts';
import { KEYS_PATH } from '../keys/key.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';

const words = texts.first;

interface Step {
  label: string;
  hint: string;
  done: boolean;
  to?: string;
}

/** From sign-up to the first payment and its webhook; it goes away by itself when all of it is done. */
export function WalkThrough({ session }: { session: Session }) {
  const rights = useRights();
  const isShown = mode === 'test' && rights.write;
  const options = { enabled: isShown };
  const keys = useList<unknown>(KEYS_PATH, {}, options);
  const payments = useList<Payment>('/v1/payments', { limit: 1 }, options);
  const completed = useList<Payment>('/v1/payments', { limit: 1, status: 'completed' }, options);
  const endpoints = useList<WebhookEndpoint>('/v1/webhook_endpoints', { limit: 1 }, options);
  // What could not be read is not known to be undone.
  if (!isShown || [keys, payments, completed, endpoints].some(({ data }) => data === undefined)) return null;
  const has = ({ data }: { data?: { data: unknown[] } | undefined }) => (data?.data.length ?? 0) > 0;
  const steps: Step[] = [
    { label: words.verify, hint: words.verifyHint, done: session.user.email_verified },
    { label: words.key, hint: words.keyHint, done: has(keys), to: '/keys' },
    { label: words.pay, hint: words.payHint, done: has(payments), to: '/payments/new' },
    { label: words.watch, hint: words.watchHint, done: has(completed), to: '/payments' },
    { label: words.hook, hint: words.hookHint, done: has(endpoints), to: '/webhooks' },
  ];
  if (steps.every(({ done }) => done)) return null;
  return (
    <Panel title={words.title} lead={words.lead}>
      <Stack component="ol" gap="md" p={0} m={0}>
        {steps.map((step, index) => (
          <StepView key={step.label} step={step} number={index + 1} />
        ))}
      </Stack>
    </Panel>
  );
}

function StepView({ step, number }: { step: Step; number: number }) {
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="sm">
      <Group gap="sm" wrap="nowrap">
        <ThemeIcon radius="xl" variant={step.done ? 'filled' : 'light'} color={step.done ? 'brand' : 'gray'}>
          {step.done ? <Icon name="check" size={15} /> : number}
        </ThemeIcon>
        <div>
          <Text fw={600} size="sm">
            {step.label}
          </Text>
          <Text size="sm" c="dimmed">
            {step.hint}
          </Text>
        </div>
      </Group>
      {step.done ? (
        <Badge color="brand">{words.done}</Badge>
      ) : step.to === undefined ? null : (
        <Button
          component={Link}
          to={step.to}
          size="xs"
          variant="default"
          flex="none"
          aria-label={`${words.go}: ${step.label}`}
        >
          {words.go}
        </Button>
      )}
    </Group>
  );
}
