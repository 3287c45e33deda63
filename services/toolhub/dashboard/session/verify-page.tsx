import { Loading, NarrowPage, ProblemView } from '@libs/ui';
import { Alert, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { client, refresh } from '../api/client.ts';
import { texts } from '../texts.ts';
import { Brand } from './brand.tsx';
import { ME_PATH } from './me.ts';

const words = texts.verify;

export function VerifyPage() {
  const { token = '' } = useSearch({ strict: false }) as { token?: string };
  // A query and not an effect: it runs once for the token, however often the page is drawn.
  const verified = useQuery({
    queryKey: ['verify', token],
    queryFn: async () => {
      await client.post('/api/auth/verify', { token });
      await refresh(ME_PATH);
      return true;
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <NarrowPage brand={<Brand />} title={words.title}>
      {verified.isPending ? <Loading /> : null}
      {verified.isError ? <ProblemView error={verified.error} /> : null}
      {verified.isSuccess ? (
        <Alert color="brand" role="status">
          {words.done}
        </Alert>
      ) : null}
      <Button component={Link} to="/" variant={verified.isSuccess ? 'filled' : 'default'}>
        {words.go}
      </Button>
    </NarrowPage>
  );
}
