import { joinShop } from './service.ts';

// A process that sends from the database given to it until it is killed, or told to stop in good order.

const url = process.argv[2];
if (url === undefined) throw new Error('the database URL is missing');
const shop = await joinShop(url);
// Silence alone would tell of a killed one only after minutes: the end of its session has to.
const dispatcher = shop.dispatcher({ pollMs: 500, silenceMs: 600_000 });
await dispatcher.start();
process.on('SIGTERM', () => {
  void (async () => {
    await dispatcher.stop();
    await shop.close();
    process.exitCode = shop.errors.length === 0 ? 0 : 1;
  })();
});
process.send?.('ready');
