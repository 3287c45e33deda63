import { expect, test } from 'vitest';
import { unknownSettings } from './unknown-settings.ts';

const own = {
  prefix: 'APP_',
  names: ['APP_PORT', 'APP_PUBLIC_URL', 'APP_BANK_FILES_URL', 'DATABASE_URL', 'NODE_ENV'],
  others: ['APP_API_KEY'],
};
const linesOf = (env: Record<string, string>) => unknownSettings(env, own);

test.each([
  ['APP_PUBLC_URL', 'APP_PUBLIC_URL'],
  ['APP_BANK_FILES_ULR', 'APP_BANK_FILES_URL'],
  ['APP_BANKFILE_URL', 'APP_BANK_FILES_URL'],
  ['app_port', 'APP_PORT'],
])('a name that no setting has is told with the one that is meant: %s', (name, meant) => {
  expect(linesOf({ [name]: 'secret' })).toEqual([`${name} is no setting: is ${meant} meant?`]);
});

test('a name that is like no other is told alone', () => {
  expect(linesOf({ APP_COLOUR: 'secret' })).toEqual(['APP_COLOUR is no setting']);
});

test('a name without the prefix is told where it is one letter beside a setting that is not set', () => {
  expect(linesOf({ DATABASE_ULR: 'secret' })).toEqual([
    'DATABASE_ULR is no setting; DATABASE_URL is, and is not set',
  ]);
  expect(linesOf({ NODE_EVN: 'production', AP_PUBLIC_URL: 'x' })).toHaveLength(2);
  expect(linesOf({ DATABASE_URI: 'x', DATABASE_URL: 'y', NODE_OPTIONS: 'z', PATH: '/bin' })).toEqual([]);
});

test('what is set to nothing, read by others, or said by the place where it runs, is no mistake', () => {
  const fine = {
    ...{ APP_PORT: '1', APP_PUBLC_URL: ' ', APP_API_KEY: 'x', DATABASE_URL: 'y' },
    ...{ APP_SERVICE_HOST: '10.0.0.1', APP_SERVICE_PORT: '80', APP_SERVICE_PORT_HTTP: '80' },
    ...{
      APP_WORKER_PORT: 'tcp://10.0.0.1:80',
      APP_PORT_80_TCP: 'tcp://10.0.0.1:80',
      APP_PORT_80_TCP_ADDR: '10.0.0.1',
    },
  };
  expect(linesOf(fine)).toEqual([]);
});

test('of a great many, the first ones are told', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`APP_UNKNOWN_${n}`, 'x']));
  expect(linesOf(many)).toHaveLength(20);
});
