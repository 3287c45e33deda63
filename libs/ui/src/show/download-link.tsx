import { Button, type ButtonProps } from '@mantine/core';
import { type MouseEvent, type ReactNode, useState } from 'react';
import type { Client } from '../api/client.ts';
import { ConnectionLost } from '../api/problem.ts';
import { texts } from '../texts.ts';
import { Icon } from '../theme/icons.tsx';
import { toast } from './toast.ts';

/** The largest file that is made for a link takes far less. */
const READ_MS_MAX = 5 * 60_000;
/** Until then the browser has begun to write the file. */
const KEPT_MS = 60_000;

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
  const download = async (event: MouseEvent) => {
    // Into another tab, as somebody wishes.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      save(...(await read(client, path)));
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
      onClick={(event: MouseEvent) => void download(event)}
    >
      {children}
    </Button>
  );
}

async function read(client: Pick<Client, 'open'>, path: string): Promise<[Blob, string]> {
  const answer = await client.open(path, { signal: AbortSignal.timeout(READ_MS_MAX) });
  const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? '';
  try {
    return [await answer.blob(), name];
  } catch (error) {
    // Cut off in the middle.
    throw new ConnectionLost(error);
  }
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
