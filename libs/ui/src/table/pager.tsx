import { Button, Group } from '@mantine/core';
import { texts } from '../texts.ts';
import { Icon } from '../theme/icons.tsx';
import type { Place } from './place.ts';

/** Lists go by cursors, which only lead forward; whoever turns the pages keeps the way back. */
export function PageButtons(props: {
  place: Place;
  nextCursor: string | null | undefined;
  /** Before any of the three. */
  onTurn: () => void;
}) {
  const { place, nextCursor } = props;
  const isFirst = place.cursor === undefined;
  const turn = (to: () => void) => () => {
    props.onTurn();
    to();
  };
  if (isFirst && (nextCursor === null || nextCursor === undefined)) return null;
  return (
    <Group component="nav" justify="flex-end" gap="xs" p="sm" aria-label={texts.pages}>
      {isFirst ? null : (
        <>
          <Button variant="subtle" size="xs" onClick={turn(place.toFirst)}>
            {texts.firstPage}
          </Button>
          {place.toPrevious === undefined ? null : (
            <Button
              variant="default"
              size="xs"
              leftSection={<Icon name="arrowLeft" size={14} />}
              onClick={turn(place.toPrevious)}
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
        onClick={turn(() => place.toNext(nextCursor ?? ''))}
      >
        {texts.nextPage}
      </Button>
    </Group>
  );
}
