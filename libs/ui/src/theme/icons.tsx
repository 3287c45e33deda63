/** Outlines on a grid of 24, drawn with the colour of the text; they say nothing to a screen reader. */
const paths = {
  home: 'M4 11 12 4l8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z',
  payments: 'M4 8h14m-4-4 4 4-4 4M20 16H6m4-4-4 4 4 4',
  plus: 'M12 5v14M5 12h14',
  bank: 'M4 10h16M6 10v8m4-8v8m4-8v8m4-8v8M3 20h18M12 3 3 8h18z',
  webhook: 'M10 6a3 3 0 1 1 4.5 2.6L18 15M7 17h10M7 17a3 3 0 1 1-2-2.8M17 17a3 3 0 1 0 .8-2M9.5 8.5 6.2 14.2',
  bolt: 'M13 3 5 14h6l-1 7 8-11h-6z',
  book: 'M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11M9 8h6',
  key: 'M20.5 3.5l-8.7 8.7M15.5 8.5l3 3M13 15.5a4.8 4.8 0 1 1-9.6 0 4.8 4.8 0 0 1 9.6 0z',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  flask: 'M9 3h6M10 3v6l-5 9a2 2 0 0 0 1.8 3h10.4a2 2 0 0 0 1.8-3l-5-9V3M7.5 15h9',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20a6 6 0 0 1 12 0M16 4.5a3.5 3.5 0 0 1 0 6.5M21 20a6 6 0 0 0-4-5.6',
  settings:
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 12h2m12 0h2M12 4v2m0 12v2M6.3 6.3l1.4 1.4m8.6 8.6 1.4 1.4m0-11.4-1.4 1.4m-8.6 8.6-1.4 1.4',
  shield: 'M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6z',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'm5 12 5 5 9-10',
  cross: 'M6 6l12 12M18 6 6 18',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4',
  moon: 'M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z',
  auto: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  download: 'M12 4v11m-4-4 4 4 4-4M5 20h14',
  refresh: 'M20 11a8 8 0 0 0-14.3-4L4 9m0-5v5h5M4 13a8 8 0 0 0 14.3 4l1.7-2m0 5v-5h-5',
  arrowRight: 'M5 12h14m-6-6 6 6-6 6',
  arrowLeft: 'M19 12H5m6-6-6 6 6 6',
  chevron: 'm9 6 6 6-6 6',
  warning: 'M12 4 2.8 20h18.4zM12 10v4m0 3h.01',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2',
  logout: 'M14 4h5v16h-5M4 12h11m-4-4 4 4-4 4',
  eye: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  fingerprint:
    'M7 20c1-2 1.5-4.500 1.500-7.500a3.500 3.500 0 0 1 7 0c0 1.500 0 3-.4 4.500M12 12.500c0 3.500-.6 6-1.800 8.500M4.500 15c.4-2.500 0-4.500.8-6.500A7 7 0 0 1 18.900 11c.2 3 0 6-1 9',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}
