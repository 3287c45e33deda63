import { Amount, Facts, isApiError, Loading, Panel, ProblemView, When } from '@libs/ui';
import { Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import type { Payment, Quote } from '../../api/types.ts';
import { texts } from '../../texts.ts';
import { DecisionLines } from '../detail/decision.tsx';
import { wordsOfRefusal } from '../refusal-words.ts';
import { RailName } from '../status.tsx';

const words = texts.newPayment;
const TYPING_PAUSE_MS = 400;
const QUOTE_RENEWED_MS = 30_000;

/** Rail, fee and settlement of what is in the form now. */
export function QuotePanel({ body }: { body: Record<string, unknown> | undefined }) {
  // As text: an object would be another one each time that the form is drawn.
  const [text] = useDebouncedValue(body === undefined ? '' : JSON.stringify(body), TYPING_PAUSE_MS);
  const quote = useQuery({
    queryKey: ['quote', text],
    queryFn: async ({ signal }) => {
      const asked = JSON.parse(text);
      const answer = await client.post<Quote>('/v1/payments/quote', asked, { signal });
      return { ...answer, asked: (asked.rail ?? 'auto') as Payment['rail'] };
    },
    enabled: text !== '',
    placeholderData: keepPreviousData,
    // What it says of settlement is of a moment.
    refetchInterval: QUOTE_RENEWED_MS,
  });
  return (
    <Panel title={words.quote}>
      <div aria-live="polite">
        {text === '' ? (
          <Text size="sm" c="dimmed">
            {words.quoteEmpty}
          </Text>
        ) : quote.isError ? (
          <QuoteProblem error={quote.error} text={text} />
        ) : quote.data === undefined ? (
          <Loading />
        ) : (
          <QuoteView quote={quote.data} />
        )}
      </div>
    </Panel>
  );
}

function QuoteProblem({ error, text }: { error: unknown; text: string }) {
  const { rail: asked } = JSON.parse(text) as { rail: Payment['rail'] };
  return (
    <ProblemView error={error} words={isApiError(error) ? wordsOfRefusal(error, { asked }) : undefined} />
  );
}

function QuoteView({ quote }: { quote: Quote & { asked: Payment['rail'] } }) {
  return (
    <Stack>
      <Facts
        facts={[
          [texts.payments.rail, <RailName key="rail" rail={quote.rail_selected} />],
          [texts.payment.fee, <Amount key="fee" minor={quote.fee.amount} />],
          [texts.payment.settles, <When key="at" at={quote.estimated_settlement_at} withZone />],
        ]}
      />
      <Title order={3}>{texts.payment.decision}</Title>
      <DecisionLines decision={quote.rail_decision} asked={quote.asked} />
    </Stack>
  );
}
