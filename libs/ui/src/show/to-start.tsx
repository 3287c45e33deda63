import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { texts } from '../texts.ts';

/** The way on from where nothing is. */
export function ToStart() {
  return (
    <Button component={Link} to="/" variant="default">
      {texts.toStart}
    </Button>
  );
}
