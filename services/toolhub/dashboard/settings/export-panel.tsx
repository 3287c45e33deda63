import { Icon, Panel } from '@libs/ui';
import { Button } from '@mantine/core';
import { texts } from '../texts.ts';

const words = texts.settings;

/** A plain link: the browser writes the file as it comes, however large it is. */
export function ExportPanel() {
  return (
    <Panel title={words.export} lead={words.exportLead}>
      <Button
        component="a"
        href="/api/export"
        download
        variant="default"
        leftSection={<Icon name="download" size={16} />}
      >
        {words.exportNow}
      </Button>
    </Panel>
  );
}
