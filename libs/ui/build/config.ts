/**
 * Whoever builds, a test too, makes what people get. The mode alone does not say so: the builder looks at the environment, and made
 * pages of the libraries' slow forms for development, with the paths of this machine in them, when a test had built first.
 */
export async function inProduction<Result>(work: () => Promise<Result>): Promise<Result> {
  const { NODE_ENV: before } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}
