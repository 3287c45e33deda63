import '@mantine/spotlight/styles.css';
import { Spotlight } from '@mantine/spotlight';
import { texts } from '../texts.ts';
import { Icon, type IconName } from '../theme/icons.tsx';
import { paletteStore } from './palette-store.ts';

export interface PaletteAction {
  label: string;
  hint?: string;
  icon?: IconName;
  run: () => void;
}

export interface PaletteProps {
  actions: readonly PaletteAction[];
  /** What a typed text could mean beside the names of actions: an id that leads to its page. */
  interpret?: (text: string) => PaletteAction | undefined;
}

const ACTIONS_MAX = 12;

export function Palette({ actions, interpret }: PaletteProps) {
  const shown = actions.map((action) => ({
    id: action.label,
    label: action.label,
    ...(action.hint === undefined ? {} : { description: action.hint }),
    leftSection: <Icon name={action.icon ?? 'arrowRight'} />,
    onClick: action.run,
  }));
  return (
    <Spotlight
      store={paletteStore}
      actions={shown}
      limit={ACTIONS_MAX}
      shortcut={null}
      nothingFound={texts.searchNothing}
      searchProps={{
        placeholder: texts.search,
        'aria-label': texts.search,
        leftSection: <Icon name="search" />,
      }}
      filter={(text, all) => {
        const wanted = text.trim().toLowerCase();
        const meant = interpret?.(text.trim());
        const named = all.filter(
          (action) => 'label' in action && action.label?.toLowerCase().includes(wanted),
        );
        if (meant === undefined) return named;
        return [
          { id: 'meant', label: meant.label, leftSection: <Icon name="search" />, onClick: meant.run },
          ...named,
        ];
      }}
    />
  );
}
