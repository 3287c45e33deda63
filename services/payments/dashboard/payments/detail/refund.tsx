import { ApiFormView, formatAmount, parseAmount, toast, useApiForm } from '@libs/ui';
import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { client, refresh } from '../../api/client.ts';
import type { Payment } from '../../api/types.ts';
import { MethodName } from '../../payment-methods/method.tsx';
import { texts } from '../../texts.ts';
import { wordsOfRefusal } from '../refusal-words.ts';

const words = texts.payment;

/** Gives back a completed payment, whole or in part; leads to the refund. */
export function RefundButton({ payment }: { payment: Payment }) {
  const [opened, { open, close }] = useDisclosure(false);
  const navigate = useNavigate();
  const left = payment.amount - payment.refunded_amount;
  const api = useApiForm({
    initialValues: { amount: (left / 100).toFixed(2), description: '' },
    validate: {
      amount: (value: string) => (parseAmount(value) ? null : texts.newPayment.notAnAmount),
    },
    fieldOfCode: { insufficient_funds: 'amount' },
    wordsOf: (refusal) => wordsOfRefusal(refusal, { currency: payment.currency }),
    send: async ({ amount, description }, idempotencyKey) => {
      const body = { amount: parseAmount(amount), ...(description === '' ? {} : { description }) };
      const refund = await client.post<Payment>(`/v1/payments/${payment.id}/refunds`, body, {
        idempotencyKey,
      });
      await refresh('/v1/payments');
      toast.done(words.refundDone);
      await navigate({ to: '/payments/$id', params: { id: refund.id } as never });
    },
  });
  return (
    <>
      <Button variant="default" onClick={open}>
        {words.refund}
      </Button>
      <Modal opened={opened} onClose={close} title={words.refund}>
        <ApiFormView api={api} submitLabel={words.refund}>
          <Stack gap="sm">
            <Text size="sm" component="div">
              {words.refundLead} <MethodName id={payment.source.payment_method_id} />.
            </Text>
            <TextInput
              label={words.refundAmount}
              description={words.refundHint(formatAmount(left))}
              inputMode="decimal"
              data-autofocus
              {...api.form.getInputProps('amount')}
            />
            <TextInput
              label={texts.payments.description}
              description={texts.newPayment.optional}
              {...api.form.getInputProps('description')}
            />
          </Stack>
        </ApiFormView>
      </Modal>
    </>
  );
}
