/**
 * Mantine's theme. Colours that carry meaning (verdicts, states) are tokens in theme.css, not theme colours.
 */
import { createTheme, type MantineColorsTuple } from '@mantine/core';

const pace: MantineColorsTuple = [
  '#eef4fe',
  '#dce7fb',
  '#b8cdf5',
  '#93b4f0',
  '#84abf2',
  '#4b82df',
  '#3269cd',
  '#2456b8',
  '#1d4796',
  '#163871',
];

const dark: MantineColorsTuple = [
  '#dce1e7',
  '#bcc4ce',
  '#a5aeba',
  '#8b95a2',
  '#3b434e',
  '#2f363f',
  '#21262d',
  '#181c22',
  '#12161b',
  '#0c0f13',
];

const SYSTEM =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif';
const MONO =
  'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace';

export const theme = createTheme({
  primaryColor: 'pace',
  primaryShade: 7,
  colors: { pace, dark },
  fontFamily: SYSTEM,
  fontFamilyMonospace: MONO,
  headings: {
    fontFamily: SYSTEM,
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.25' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.35' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
});
