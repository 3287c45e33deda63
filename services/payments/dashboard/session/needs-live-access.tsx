import { Empty, type IconName } from '@libs/ui';
import { Alert, Anchor, Button, Paper } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { texts } from '../texts.ts';
import { useRights, useSession } from './session.ts';

const words = texts.liveAccess;

/** Instead of what would be refused: why that is, and the way to it. */
export function NeedsLiveAccess({ icon, title, next }: { icon: IconName; title: string; next: string }) {
  const isAskedFor = useSession().data?.organisation?.live_access === 'requested';
  const { manage } = useRights();
  return (
    <Paper className="ui-panel">
      <Empty
        icon={icon}
        title={title}
        next={isAskedFor ? words.askedFor : manage ? next : words.ownersAsk}
        action={
          <Button component={Link} to="/settings">
            {words.toSettings}
          </Button>
        }
      />
    </Paper>
  );
}

/** Above every live page: what is done there is real, or why nothing can be done there yet. */
export function LiveBanner() {
  const { manage } = useRights();
  const access = useSession().data?.organisation?.live_access;
  const isAskedFor = access === 'requested';
  if (access === 'approved')
    return (
      <Alert color="brand" py={6} mb="md">
        {texts.mode.liveBanner}
      </Alert>
    );
  return (
    <Alert color="blue" py={6} mb="md">
      {texts.mode.liveBanner} {access === 'refused' ? words.refused : words.none}{' '}
      {isAskedFor ? words.isAskedFor : null}
      {!isAskedFor && manage ? (
        <Anchor component={Link} to="/settings" inherit c="inherit" underline="always">
          {words.ask}
        </Anchor>
      ) : null}
      {!isAskedFor && !manage ? words.ownersAsk : null}
    </Alert>
  );
}
