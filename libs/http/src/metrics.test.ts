import { Counter } from 'prom-client';
import { expect, test } from 'vitest';
import { createTestApp } from '../test/test-app.ts';

test('requests are counted by route, method and status, never by address', async () => {
  const app = await createTestApp();
  for (let i = 0; i < 3; i++) await app.inject(`/v1/things/thing-${i}`);
  await app.inject('/v1/things');
  await app.inject('/nothing/123');
  await app.inject({ method: 'PUT', url: '/v1/things' });
  new Counter({ name: 'things_total', help: 'Things.', registers: [app.metrics] }).inc(7);
  const answer = await app.inject('/metrics');
  expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = answer.body;
  const name = 'http_request_duration_seconds';
  expect(text).toContain(`# TYPE ${name} histogram`);
  expect(text).toContain(
    `${name}_count{method="GET",route="/v1/things/:id",status="404",service="things"} 3`,
  );
  expect(text).toContain(
    `${name}_bucket{method="GET",route="/v1/things",status="200",le="+Inf",service="things"} 1`,
  );
  expect(text).toContain(`${name}_count{method="ANY",route="unmatched",status="404",service="things"} 1`);
  expect(text).toContain(`${name}_count{method="ANY",route="unmatched",status="405",service="things"} 1`);
  expect(text).toContain('things_total{service="things"} 7');
  expect(text).not.toMatch(/thing-1|nothing/);
  await app.close();
});

test('HEAD and routes of several methods are counted once, under their own method', async () => {
  const app = await createTestApp();
  app.route({ method: ['GET', 'POST'], url: '/both', handler: async () => ({}) });
  await app.inject({ method: 'HEAD', url: '/v1/things' });
  await app.inject({ method: 'POST', url: '/both' });
  await app.inject({ method: 'HEAD', url: '/both' });
  const text = (await app.inject('/metrics')).body;
  const counts = [...text.matchAll(/_count\{method="(\w+)",route="([^"]+)",status="200".*\} (\d+)/g)].map(
    ([, method, route, count]) => `${method} ${route} ${count}`,
  );
  expect(counts.toSorted()).toEqual(['HEAD /both 1', 'HEAD /v1/things 1', 'POST /both 1']);
  await app.close();
});

test('buckets are cumulative and end with the count', async () => {
  const app = await createTestApp();
  for (let i = 0; i < 20; i++) await app.inject('/v1/things');
  const text = (await app.inject('/metrics')).body;
  const counts = [...text.matchAll(/_bucket\{method="GET",route="\/v1\/things".*\} (\d+)/g)].map(
    ([, count]) => Number(count),
  );
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(counts.at(-1)).toBe(20);
  const [, sum] = /_sum\{method="GET",route="\/v1\/things".*\} ([\d.e-]+)/.exec(text) ?? [];
  expect(Number(sum)).toBeGreaterThan(0);
  await app.close();
});

test('process metrics come with it by default', async () => {
  const app = await createTestApp({ defaultMetrics: true });
  const text = (await app.inject('/metrics')).body;
  expect(text).toMatch(/process_resident_memory_bytes\{service="things"\} \d+/);
  expect(text).toMatch(/nodejs_eventloop_lag_seconds/);
  await app.close();
});
