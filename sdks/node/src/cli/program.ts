type Environment = Readonly<Record<string, string | undefined>>;

export function isRunByNpx(env: Environment): boolean {
  return env.npm_command === 'exec';
}

/** What a reader types to run this program: a package that one project has is found by `npx` alone. */
export function programOf(env: Environment): string {
  return isRunByNpx(env) ? 'npx payments' : 'payments';
}
