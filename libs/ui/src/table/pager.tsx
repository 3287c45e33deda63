import { Button, Group } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { texts } from '../texts.ts';
import { Icon } from '../theme/icons.tsx';
import { useSearchState } from './search.ts';

/** Lists go by cursors, which only lead forward; the way back is the browser's own. */
export function Pager({ nextCursor }: { nextCursor: string | null | undefined }) {
  const search = useSearchState();
  const { history } = useRouter();
  const isFirst = search.values.cursor === undefined;
  if (isFirst && (nextCursor === null || nextCursor === undefined)) return null;
  return (
    <Group component="nav" justify="flex-end" gap="xs" p="sm" aria-label={texts.pages}>
      {isFirst ? null : (
        <>
          <Button variant="subtle" size="xs" onClick={() => search.set({})}>
            {texts.firstPage}
          </Button>
          <Button
            variant="default"
            size="xs"
            leftSection={<Icon name="arrowLeft" size={14} />}
            onClick={() => history.back()}
          >
            {texts.previousPage}
          </Button>
        </>
      )}
      <Button
        variant="default"
        size="xs"
        rightSection={<Icon name="arrowRight" size={14} />}
        disabled={nextCursor === null || nextCursor === undefined}
        onClick={() => search.set({ cursor: nextCursor ?? undefined })}
      >
        {texts.nextPage}
      </Button>
    </Group>
  );
}
