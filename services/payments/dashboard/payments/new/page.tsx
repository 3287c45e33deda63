import { ApiFormView, Empty, Page, parseAmount, QueryView, type Search, toast, useApiForm } from '@libs/ui';
import {
  Alert,
  Anchor,
  Checkbox,
  Grid,
  Input,
  Paper,
  SegmentedControl,
  Select,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ChangeEvent, useId, useState } from 'react';
import { client, refresh, useList, useObject } from '../../api/client.ts';
import { mode } from '../../api/mode.ts';
import type { Payment, PaymentMethod } from '../../api/types.ts';
import { nameOf } from '../../payment-methods/method.tsx';
import { NeedsLiveAccess } from '../../session/needs-live-access.tsx';
import { useRights, useSession } from '../../session/session.ts';
import { texts } from '../../texts.ts';
import { wordsOfRefusal } from '../refusal-words.ts';
import {
  areMetadataLines,
  bodyOfDraft,
  draftOf,
  emptyDraft,
  type PaymentDraft,
  quotedBodyOf,
  repeatedKey,
} from './draft.ts';
import { QuotePanel } from './quote-panel.tsx';

const words = texts.newPayment;
const METHODS_SHOWN = 50;

const choicesOf = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

/** What a rail is stands under its name: a phone has no pointer to ask with. */
const railHint = (rail: PaymentDraft['rail']) =>
  rail === 'auto' ? words.railAutoHint : texts.railHints[rail];

const accountMissing = (typed: string) => (typed.trim() === '' ? words.noAccount : null);

function metadataProblem(text: string): string | null {
  if (!areMetadataLines(text)) return words.badPair;
  const twice = repeatedKey(text);
  return twice === undefined ? null : words.keyTwice(twice);
}

/** Empty, with the accounts of the address, or as a payment was that is tried again. */
export function NewPaymentPage() {
  const { write, needsLiveAccess } = useRights();
  const session = useSession();
  const [isOpen, setIsOpen] = useState(false);
  if (write && !isOpen) setIsOpen(true);
  // Whoever comes by an address that was kept, and may only look. A form that is open stays, with what was typed and why it
  // was refused, when the role is taken away meanwhile.
  if (session.data !== undefined && !write && !isOpen)
    return (
      <Page title={words.title}>
        {needsLiveAccess ? (
          <NeedsLiveAccess icon="payments" title={words.needLive} next={words.needLiveNext} />
        ) : (
          <Paper className="ui-panel">
            <Empty icon="payments" title={words.viewer} next={words.viewerNext} />
          </Paper>
        )}
      </Page>
    );
  return <PaymentMaker />;
}

function PaymentMaker() {
  const { from = '', to = '', again } = useSearch({ strict: false }) as Search;
  const before = useObject<Payment>(`/v1/payments/${encodeURIComponent(again ?? '')}`, {
    enabled: again !== undefined,
  });
  return (
    <Page title={words.title} lead={words.lead}>
      {again === undefined ? (
        <NewPaymentForm initial={{ ...emptyDraft, from, to }} />
      ) : (
        <QueryView query={before}>
          {(payment) => (
            <>
              <AgainNote payment={payment} />
              <NewPaymentForm key={payment.id} initial={draftOf(payment)} />
            </>
          )}
        </QueryView>
      )}
    </Page>
  );
}

function AgainNote({ payment: { id, status } }: { payment: Payment }) {
  return (
    <Alert color="blue">
      {words.again}{' '}
      <Anchor
        component={Link}
        to="/payments/$id"
        params={{ id } as never}
        inherit
        c="inherit"
        underline="always"
        className="ui-id"
      >
        {id}
      </Anchor>{' '}
      ({texts.statuses[status]}). {words.againHint}
    </Alert>
  );
}

function NewPaymentForm({ initial }: { initial: PaymentDraft }) {
  const navigate = useNavigate();
  const api = useApiForm<PaymentDraft>({
    initialValues: initial,
    fieldNames: {
      'source.payment_method_id': 'from',
      'destination.payment_method_id': 'to',
      'routing.prefer': 'prefer',
      'routing.fallback': 'fallback',
    },
    fieldOfCode: { insufficient_funds: 'amount', rail_not_available: 'rail' },
    wordsOf: (refusal, { rail }) => wordsOfRefusal(refusal, { asked: rail }),
    validate: {
      amount: (value: string) => (parseAmount(value) ? null : words.notAnAmount),
      // With the others at once: the server is only asked when those are good.
      from: accountMissing,
      to: accountMissing,
      metadata: metadataProblem,
    },
    send: async (draft, idempotencyKey) => {
      const payment = await client.post<Payment>('/v1/payments', bodyOfDraft(draft), { idempotencyKey });
      await refresh('/v1/payments', '/v1/payment_methods', '/v1/overview');
      toast.done(words.sent);
      await navigate({ to: '/payments/$id', params: { id: payment.id } as never });
    },
  });
  const { form } = api;
  // A quote makes a test account of an unknown id, so it is asked for whole ids and not for each letter of one.
  // While one is typed, what stood there before counts.
  const [before, setBefore] = useState<Partial<Pick<PaymentDraft, 'from' | 'to'>>>({});
  const methodProps = (side: 'from' | 'to') => ({
    ...form.getInputProps(side),
    onFocus: () => setBefore({ [side]: form.getValues()[side] }),
    onBlur: () => setBefore({}),
  });
  return (
    <ApiFormView api={api} submitLabel={words.submit}>
      {(end) => (
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, lg: 6 }}>
            <Paper className="ui-panel">
              <Stack>
                <TextInput
                  label={words.amount}
                  inputMode="decimal"
                  placeholder="25.00"
                  required
                  {...form.getInputProps('amount')}
                />
                <MethodInput label={words.from} {...methodProps('from')} />
                <MethodInput label={words.to} {...methodProps('to')} />
                <Select
                  label={words.rail}
                  description={railHint(form.values.rail)}
                  data={[
                    { value: 'auto', label: words.railAuto },
                    { value: 'rtp', label: texts.rails.rtp },
                    { value: 'ach', label: texts.rails.ach },
                  ]}
                  {...form.getInputProps('rail')}
                />
                {form.values.rail === 'auto' ? (
                  <>
                    <Input.Wrapper label={words.prefer} labelElement="div">
                      <SegmentedControl
                        fullWidth
                        aria-label={words.prefer}
                        data={choicesOf(words.prefers)}
                        {...form.getInputProps('prefer')}
                      />
                    </Input.Wrapper>
                    <Checkbox
                      label={words.fallback}
                      {...form.getInputProps('fallback', { type: 'checkbox' })}
                    />
                  </>
                ) : null}
                <TextInput
                  label={words.description}
                  description={words.optional}
                  maxLength={140}
                  {...form.getInputProps('description')}
                />
                <Textarea
                  label={words.metadata}
                  description={words.metadataHint}
                  autosize
                  minRows={2}
                  {...form.getInputProps('metadata')}
                />
              </Stack>
            </Paper>
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 6 }}>
            {/* On a phone, too, what it costs stands before the button that pays it. */}
            <Stack>
              <QuotePanel body={quotedBodyOf({ ...form.values, ...before })} />
              {end}
            </Stack>
          </Grid.Col>
        </Grid>
      )}
    </ApiFormView>
  );
}

type MethodInputProps = {
  label: string;
  value?: string;
  onChange?: (event: ChangeEvent<HTMLInputElement>) => void;
  onFocus: () => void;
  onBlur: () => void;
};

/** Any id may be typed; the browser offers those that exist. */
function MethodInput(props: MethodInputProps) {
  const methods = useList<PaymentMethod>('/v1/payment_methods', { limit: METHODS_SHOWN });
  const listId = useId();
  return (
    <>
      <TextInput
        {...props}
        required
        placeholder="pm_…"
        list={listId}
        {...(mode === 'test' ? { description: words.methodHint } : {})}
      />
      <datalist id={listId}>
        {(methods.data?.data ?? []).map((method) => (
          <option key={method.id} value={method.id} label={nameOf(method)} />
        ))}
      </datalist>
    </>
  );
}
