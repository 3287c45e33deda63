import {
  Badge,
  Button,
  type CSSVariablesResolver,
  createTheme,
  Input,
  type MantineColorsTuple,
  Modal,
  Paper,
  PasswordInput,
  Select,
  Table,
  TextInput,
} from '@mantine/core';
import { texts } from '../texts.ts';

const brand: MantineColorsTuple = [
  '#e9f6f4',
  '#d3ebe7',
  '#a6d6cf',
  '#75c0b5',
  '#4caea1',
  '#2f9d90',
  '#178b7f',
  '#0c766c',
  '#0a655d',
  '#07534d',
];

/** Cooler greys than the library's, for surfaces that stay calm beside coloured states. */
const gray: MantineColorsTuple = [
  '#f7f9fa',
  '#eff2f4',
  '#e3e8eb',
  '#d3dade',
  '#b3bdc4',
  '#8a97a0',
  '#66747e',
  '#4b5862',
  '#333e46',
  '#1d252b',
];
const dark: MantineColorsTuple = [
  '#d5dbe0',
  '#b6c0c7',
  '#8f9ba4',
  '#5c6871',
  '#3a444c',
  '#2b343b',
  '#222a30',
  '#191f24',
  '#13181c',
  '#0d1114',
];

const SYSTEM_FONT =
  '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export const theme = createTheme({
  colors: { brand, gray, dark },
  primaryColor: 'brand',
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: SYSTEM_FONT,
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: {
    fontFamily: SYSTEM_FONT,
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.6rem', lineHeight: '1.25' },
      h2: { fontSize: '1.1rem', lineHeight: '1.35' },
      h3: { fontSize: '0.95rem', lineHeight: '1.4' },
    },
  },
  components: {
    Badge: Badge.extend({
      defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 600 },
      // A state is never cut short.
      styles: { root: { overflow: 'visible', flex: 'none' }, label: { overflow: 'visible' } },
    }),
    Button: Button.extend({ defaultProps: { fw: 600 } }),
    // Fields that may stay empty are rare, and said to be so where they are.
    InputWrapper: Input.Wrapper.extend({ defaultProps: { withAsterisk: false } }),
    Modal: Modal.extend({
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.45, blur: 2 },
        // The library draws a cross alone, which says nothing to who listens.
        closeButtonProps: { 'aria-label': texts.closeDialog },
      },
      styles: { title: { fontSize: '1.1rem', fontWeight: 650, lineHeight: 1.35 } },
    }),
    Paper: Paper.extend({ defaultProps: { withBorder: true, p: 'lg', radius: 'md' } }),
    PasswordInput: PasswordInput.extend({
      // The library leaves this button out of the order of the Tab key, where only a mouse finds it.
      defaultProps: {
        visibilityToggleButtonProps: { 'aria-label': texts.showTyped, tabIndex: 0 },
      },
    }),
    Select: Select.extend({ defaultProps: { allowDeselect: false, comboboxProps: { shadow: 'md' } } }),
    Table: Table.extend({ defaultProps: { verticalSpacing: 'sm', horizontalSpacing: 'md' } }),
    TextInput: TextInput.extend({ defaultProps: { autoComplete: 'off' } }),
  },
});

/** The text of badges and notes on their own pale ground. */
const inkOnPale: Readonly<Record<string, string>> = {
  teal: '#075e45',
  orange: '#93370d',
  red: '#991b1b',
  yellow: '#7a4a05',
  blue: '#1c4a86',
  grape: '#6b2180',
  gray: '#333e46',
};
const inks = (inkOf: (color: string, ink: string) => string) =>
  Object.fromEntries(
    Object.entries(inkOnPale).map(([color, ink]) => [
      `--mantine-color-${color}-light-color`,
      inkOf(color, ink),
    ]),
  );

/** Small text must stand out from its ground by 4.5 : 1; the library's own greys do not everywhere. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...inks((_color, ink) => ink),
    '--mantine-color-body': '#ffffff',
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--ui-ground': 'var(--mantine-color-gray-0)',
    '--ui-line': 'var(--mantine-color-gray-2)',
  },
  dark: {
    ...inks((color) => `var(--mantine-color-${color}-2)`),
    // The library's own grounds are darker than what they lie on.
    '--mantine-color-brand-light': 'color-mix(in srgb, var(--mantine-color-brand-5) 24%, transparent)',
    '--mantine-color-gray-light': 'var(--mantine-color-dark-5)',
    '--mantine-color-body': 'var(--mantine-color-dark-7)',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--ui-ground': 'var(--mantine-color-dark-8)',
    '--ui-line': 'var(--mantine-color-dark-5)',
  },
});
