import { Loading, ProblemView } from '@libs/ui';
import { Container } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { CustomerFrame } from '../frame/frame.tsx';
import { useMe } from '../session/me.ts';
import { FrontDoor } from './front-door.tsx';

const Overview = lazy(async () => ({ default: (await import('../overview/page.tsx')).OverviewPage }));

/** What this is, for a visitor; for a customer, how things are. */
export function StartPage() {
  const me = useMe();
  if (me.isPending) {
    return (
      <Container size="sm" py="xl" component="main">
        <Loading />
      </Container>
    );
  }
  if (me.data === undefined) {
    return (
      <Container size="sm" py="xl" component="main">
        <ProblemView error={me.error} retry={me.refetch} />
      </Container>
    );
  }
  if (me.data === null) return <FrontDoor />;
  return (
    <CustomerFrame key={me.data.customer.id} customer={me.data.customer}>
      <Suspense fallback={<Loading />}>
        <Overview />
      </Suspense>
    </CustomerFrame>
  );
}
