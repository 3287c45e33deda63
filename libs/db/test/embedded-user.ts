import { startEmbedded } from '../src/embedded/embedded.ts';

/** A process that uses the embedded server until it is told to stop or killed. */
const [dataDir, user] = process.argv.slice(2) as [string, string];
try {
  const server = await startEmbedded({ dataDir, user });
  process.send?.({ url: server.url });
  process.once('message', async () => {
    await server.stop();
    process.exit(0);
  });
} catch (error) {
  process.send?.({ error: (error as Error).message });
  process.exit(1);
}
