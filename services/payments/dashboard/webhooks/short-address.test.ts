import { expect, test } from 'vitest';
import type { WebhookEndpoint } from '../api/types.ts';
import { shortAddress } from './short-address.ts';

const endpoints = (...urls: string[]) => urls.map((url, n) => ({ id: `we_${n}`, url }) as WebhookEndpoint);
const shortOf = (...urls: string[]) => {
  const all = endpoints(...urls);
  return all.map((endpoint) => shortAddress(endpoint, all));
};

test('an endpoint goes by its host, with the port where it has one', () => {
  expect(shortOf('https://shop.example/hooks?till=1', 'http://127.0.0.1:4000/hooks')).toEqual([
    'shop.example',
    '127.0.0.1:4000',
  ]);
});

test('two endpoints of one host are told apart by what follows it', () => {
  expect(
    shortOf('https://shop.example/till', 'https://shop.example/stock?a=1', 'https://bank.example/'),
  ).toEqual(['shop.example/till', 'shop.example/stock?a=1', 'bank.example']);
});

test('of a long path the end is shown, since that is where addresses of one host differ', () => {
  const long = `https://shop.example/${'hooks/'.repeat(20)}`;
  expect(shortOf(`${long}till`, `${long}stock`, 'https://shop.example')).toEqual([
    'shop.example/…hooks/hooks/till',
    'shop.example/…ooks/hooks/stock',
    'shop.example',
  ]);
});
