import { Button, Group } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { texts } from '../texts.ts';
import { Icon } from '../theme/icons.tsx';
import { useSearchState } from './search.ts';

/** The pages of the list whose place is in the address. */
export function Pager({ nextCursor, onTurn }: { nextCursor: string | null | undefined; onTurn: () => void }) {
  const search = useSearchState();
  const { history } = useRouter();
  return (
    <PageButtons
      isFirst={search.values.cursor === undefined}
      nextCursor={nextCursor}
      onTurn={onTurn}
      onFirst={() => search.set({})}
      {...(search.isTurned ? { onPrevious: () => history.back() } : {})}
      onNext={search.turnTo}
    />
  );
}

/** Lists go by cursors, which only lead forward; whoever turns the pages keeps the way back. */
export function PageButtons(props: {
  isFirst: boolean;
  nextCursor: string | null | undefined;
  /** Before any of the three. */
  onTurn: () => void;
  onFirst: () => void;
  /** Missing where nobody knows which it was. */
  onPrevious?: () => void;
  onNext: (cursor: string) => void;
}) {
  const { isFirst, nextCursor } = props;
  const turn = (to: () => void) => () => {
    props.onTurn();
    to();
  };
  if (isFirst && (nextCursor === null || nextCursor === undefined)) return null;
  return (
    <Group component="nav" justify="flex-end" gap="xs" p="sm" aria-label={texts.pages}>
      {isFirst ? null : (
        <>
          <Button variant="subtle" size="xs" onClick={turn(props.onFirst)}>
            {texts.firstPage}
          </Button>
          {props.onPrevious === undefined ? null : (
            <Button
              variant="default"
              size="xs"
              leftSection={<Icon name="arrowLeft" size={14} />}
              onClick={turn(props.onPrevious)}
            >
              {texts.previousPage}
            </Button>
          )}
        </>
      )}
      <Button
        variant="default"
        size="xs"
        rightSection={<Icon name="arrowRight" size={14} />}
        disabled={nextCursor === null || nextCursor === undefined}
        onClick={turn(() => props.onNext(nextCursor ?? ''))}
      >
        {texts.nextPage}
      </Button>
    </Group>
  );
}
