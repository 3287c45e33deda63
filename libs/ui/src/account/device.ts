const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'] as const;
const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' };

/** `Chrome on Linux`: enough to recognise one's own devices. */
export function deviceOf(agent: string): string {
  const browser = browsers.find((name) => agent.includes(`${name}/`));
  const system = /Windows|Mac OS X|Android|iPhone|iPad|Linux/.exec(agent)?.[0];
  if (browser === undefined) return agent.slice(0, 60);
  return [names[browser] ?? browser, system?.replace('Mac OS X', 'Mac')].filter(Boolean).join(' · ');
}
