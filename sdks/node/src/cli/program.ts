type Environment = Readonly<Record<string, string | undefined>>;

export function isRunByNpx(env: Environment): boolean {
  return env.npm_command === 'exec';
}

/**
 * What a reader types to run this program: a package that one project has is found by `npx` alone. Where it was fetched, so is
 * the next one: `npx payments` would fetch what somebody else has published under that name.
 */
export function programOf(env: Environment): string {
  if (!isRunByNpx(env)) return 'payments';
  const fetched = (env.npm_config_package ?? '').split('\n').filter((name) => name !== '');
  return ['npx', ...fetched.map((name) => `--package ${name}`), 'payments'].join(' ');
}
