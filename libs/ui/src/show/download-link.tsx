import { Button, type ButtonProps } from '@mantine/core';
import { type MouseEvent, type ReactNode, useState } from 'react';
import type { Client } from '../api/client.ts';
import { ConnectionLost } from '../api/problem.ts';
import { texts } from '../texts.ts';
import { Icon } from '../theme/icons.tsx';
import { download } from './download.ts';
import { toast } from './toast.ts';

/** A file of the API that fits into memory. A refusal is said on the page; a plain link would show its JSON in place of the page. */
export function DownloadLink({
  client,
  path,
  children,
  ...rest
}: ButtonProps & {
  client: Pick<Client, 'open'>;
  path: string;
  children: ReactNode;
  'aria-label'?: string;
}) {
  const [busy, setBusy] = useState(false);
  const act = async (event: MouseEvent) => {
    // Into another tab, as somebody wishes.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await download(client, path);
    } catch (error) {
      if (error instanceof ConnectionLost) toast.failed(texts.notLoaded, texts.notLoadedNext);
      else toast.problem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      component="a"
      href={path}
      variant="default"
      leftSection={<Icon name="download" size={16} />}
      {...rest}
      loading={busy}
      aria-busy={busy || undefined}
      onClick={(event: MouseEvent) => void act(event)}
    >
      {children}
    </Button>
  );
}
