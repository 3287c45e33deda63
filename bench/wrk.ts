import { execFile } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Load, LoadReport } from './load-types.ts';

export const WRK = '/usr/bin/wrk';

/**
 * What `wrk` sends, in its Lua. All that requests share is put together once; keys are random as clients make them,
 * because keys in order would be kinder to an index than life is.
 */
function script(load: Load): string {
  const method = load.body === '' ? 'GET' : 'POST';
  const headers = [...Object.entries(load.headers), ['Host', new URL(load.url).host]];
  const head = `${method} ${load.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`;
  const tail = `Content-Length: ${Buffer.byteLength(load.body)}\r\n\r\n${load.body}`;
  const fixed = randomBytes(16).toString('hex');
  const withKey = {
    none: 'head .. tail',
    fixed: `head .. "Idempotency-Key: ${fixed}\\r\\n" .. tail`,
    fresh:
      'head .. "Idempotency-Key: " .. string.format("%06x%06x%06x%06x%06x", r(n), r(n), r(n), r(n), r(n)) .. "\\r\\n" .. tail',
  }[load.idempotencyKey];
  const pause = load.pauseMs ?? 0;
  return `
local r = math.random
local n = 16777215
local head = ${JSON.stringify(head)}
local tail = ${JSON.stringify(tail)}
function init() math.randomseed(${randomInt(2 ** 31)}) end
function request() return ${withKey} end
${pause > 0 ? `function delay() return r(0, ${Math.round(2 * pause)}) end` : ''}
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("\\nREPORT %d %d %.3f %.3f %d\\n", summary.requests, summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

export async function wrk(load: Load, seconds: number): Promise<LoadReport> {
  const folder = await mkdtemp(join(tmpdir(), 'wrk-'));
  const file = join(folder, 'load.lua');
  try {
    await writeFile(file, script(load));
    const args = [
      '-t',
      '1',
      '-c',
      String(load.connections),
      '-d',
      `${Math.ceil(seconds)}s`,
      // An answer that takes long is slow, not wrong; its time is in the report.
      '--timeout',
      '30s',
      '-s',
      file,
      load.url,
    ];
    const { stdout } = await promisify(execFile)(WRK, args);
    const found = /REPORT (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)/.exec(stdout);
    if (!found) throw new Error(`wrk said: ${stdout}`);
    const [requests, microseconds, p50Ms, p99Ms, unexpected] = found.slice(1).map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ];
    return { requests, perSecond: (requests / microseconds) * 1e6, p50Ms, p99Ms, unexpected };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
