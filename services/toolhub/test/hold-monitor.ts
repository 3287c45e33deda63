// Loaded into a process before the service: measures how long the process is held up by one thing, in processor time, so
// that a busy machine makes nothing longer. Whoever started the process asks for it by a message.
const EVERY_MS = 2;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

let longestMs = 0;
let before = cpuMs();
setInterval(() => {
  // Between two timers there is at most one turn of the event loop, and the wait for the second.
  const now = cpuMs();
  longestMs = Math.max(longestMs, now - before);
  before = now;
}, EVERY_MS).unref();

process.on('message', () => {
  process.send?.({ longestMs });
  longestMs = 0;
});
process.channel?.unref();
