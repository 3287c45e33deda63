import { Empty, Icon, type IconName } from '@libs/ui';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';

/** A list that fills itself with the first payment, and leads to it. */
export function EmptyWithoutPayments(props: { icon: IconName; title: string; next: string }) {
  const rights = useRights();
  const create = (
    <Button component={Link} to="/payments/new" leftSection={<Icon name="plus" />}>
      {texts.payments.create}
    </Button>
  );
  return <Empty {...props} {...(rights.write ? { action: create } : {})} />;
}
