const SCHEME = 'data-mantine-color-scheme';

/** Paper is white whatever somebody looks at: the letters of the dark look would be pale grey on it. */
export function printInLight(): void {
  const page = document.documentElement;
  let shown: string | null = null;
  window.addEventListener('beforeprint', () => {
    shown = page.getAttribute(SCHEME);
    page.setAttribute(SCHEME, 'light');
  });
  window.addEventListener('afterprint', () => {
    if (shown !== null) page.setAttribute(SCHEME, shown);
  });
}
