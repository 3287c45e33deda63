/** What a reader types to run this program: a package that one project has is found by `npx` alone. */
export function programOf(env: Readonly<Record<string, string | undefined>>): string {
  return env.npm_command === 'exec' ? 'npx payments' : 'payments';
}
