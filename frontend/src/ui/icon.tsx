/**
 * The icons of the interface, on a 24 px grid. They are decorative: the word beside an icon carries the meaning.
 */

const PATHS = {
  overview: 'M4 4h7v7H4zM13 4h7v4h-7zM13 11h7v9h-7zM4 14h7v6H4z',
  runs: 'M4 12h4l2-6 4 12 2-6h4',
  matrix: 'M4 4h16v16H4zM4 9.5h16M4 14.7h16M9.5 4v16M14.7 4v16',
  series: 'M4 4v16h16M7 9h.1M9.5 8h.1M12 9h.1M14 15h.1M16.5 14h.1M19 15h.1',
  compare: 'M8 4v16M16 4v16M4 9l4-5 4 5M12 15l4 5 4-5',
  arms: 'M12 4v16M7 20h10M5 8h14M5 8l-2.5 6h5zM19 8l-2.5 6h5z',
  alerts: 'M6 17V11a6 6 0 1 1 12 0v6l2 2H4zM10 21h4',
  targets: 'M5 5h14v10H5zM2.5 19h19',
  agents: 'M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.1M7.5 16h.1M11 8h5M11 16h5',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  question: 'M8.7 9a3.4 3.4 0 1 1 4.8 3.1c-1 .5-1.5 1.1-1.5 2.4M12 18.2v.1',
  clock: 'M12 3a9 9 0 1 1 0 18a9 9 0 0 1 0-18zM12 7.5V12l3 2',
  play: 'M8 5.5v13l10-6.5z',
  stop: 'M7 7h10v10H7z',
  flask:
    'M9.5 3.5h5M10.5 3.5v6L5 19a1 1 0 0 0 .9 1.5h12.2A1 1 0 0 0 19 19l-5.5-9.5v-6M8 15h8',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 1 0 5z',
  info: 'M12 11v6M12 7.2v.1M12 3a9 9 0 1 1 0 18a9 9 0 0 1 0-18z',
  warning: 'M12 4L2.5 20h19zM12 10v4.5M12 17.3v.1',
  blocked: 'M12 3a9 9 0 1 1 0 18a9 9 0 0 1 0-18zM5.8 5.8l12.4 12.4',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  wrench:
    'M14.5 6.5a4 4 0 0 1 5-2l-2.5 2.5 1 2 2 .5L22 7a4.5 4.5 0 0 1-6 5.5L8 20.5 3.5 16 11.5 8z',
  sun: 'M12 8a4 4 0 1 1 0 8a4 4 0 0 1 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1 1M18 18l1 1M6 18l-1 1',
  moon: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z',
  menu: 'M4 7h16M4 12h16M4 17h16',
  user: 'M12 4a4 4 0 1 1 0 8a4 4 0 0 1 0-8zM4.5 20.5a7.5 7.5 0 0 1 15 0',
  keyboard: 'M3 6.5h18v11H3zM7 10h.1M11 10h.1M15 10h.1M18 10h.1M8 14h8',
  arrowRight: 'M5 12h14M13 6l6 6-6 6',
  chevronDown: 'M6 9l6 6 6-6',
  external: 'M9 5H5v14h14v-4M13 4h7v7M20 4l-9 9',
  cooling: 'M12 3v18M4.5 7.5l15 9M19.5 7.5l-15 9',
  muted: 'M5 12h14',
  rules: 'M4 5h16l-6 7.5V19l-4 1.5v-8z',
  mute: 'M6 17V11a6 6 0 0 1 9.5-4.9M18 10v7l2 2H9M10 21h4M4 4l16 16',
  channels: 'M3 10v4h4l7 5V5l-7 5zM17 9a4 4 0 0 1 0 6M19.5 6.5a8 8 0 0 1 0 11',
  policies: 'M4 19h16M4 19V5M7 7c4 .5 7 3 12 9M7 16c4-.5 7-3 12-9',
  noise: 'M3 13h2l1.5-3 2 5 2-7 2 8 2-6 1.5 3H21',
  imports: 'M12 3.5v11M7.5 10l4.5 4.5L16.5 10M4 15v5h16v-5',
  audit: 'M6 3.5h9l3.5 3.5v13.5H6zM9.5 11h6M9.5 14.5h6M9.5 7.5h2.5',
  members:
    'M9 5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 0 1 0-7zM2.5 20a6.5 6.5 0 0 1 13 0M16 5.3a3.5 3.5 0 0 1 0 6.4M18.5 14.5a6.5 6.5 0 0 1 3 5.5',
  branch:
    'M7 4v12M7 20a2 2 0 1 0 0-4a2 2 0 0 0 0 4M17 8a2 2 0 1 0 0-4a2 2 0 0 0 0 4M17 8c0 5-10 3-10 8',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      style={{ flex: 'none' }}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
