import { expect, test } from 'vitest';
import { emailKey, emailKeys } from './person.ts';

test.each([
  ['Ada@Example.com', ['ada@example.com']],
  ['ada@bücher.example', ['ada@bücher.example', 'ada@xn--bcher-kva.example']],
  ['ada@XN--BCHER-KVA.example', ['ada@xn--bcher-kva.example', 'ada@bücher.example']],
  [
    'ada@bücher.xn--mnchen-3ya.de',
    ['ada@bücher.xn--mnchen-3ya.de', 'ada@xn--bcher-kva.xn--mnchen-3ya.de', 'ada@bücher.münchen.de'],
  ],
  // Mail to these goes to the last of each, too.
  ['ada@ｅｘａｍｐｌｅ.com', ['ada@ｅｘａｍｐｌｅ.com', 'ada@example.com']],
  ['ada@exam\u00adple.com', ['ada@exam\u00adple.com', 'ada@example.com']],
  ['ada@example。com', ['ada@example。com', 'ada@example.com']],
  // What is no domain has no other spelling.
  ['ada@xn--zzzzzz.example', ['ada@xn--zzzzzz.example']],
])('%s is stored under any of %j', (email, keys) => {
  expect(emailKeys(email)).toEqual(keys);
  for (const key of keys) expect(emailKey(key)).toBe(emailKey(email));
});
