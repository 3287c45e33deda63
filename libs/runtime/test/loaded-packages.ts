// Taken into a process by `--import`: writes down each package that it loads, a line each, in the file that LOADED_PACKAGES names.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const list = process.env.LOADED_PACKAGES;
if (list === undefined) throw new Error('LOADED_PACKAGES names no file');

const known = new Set<string>();
registerHooks({
  load(url, context, next) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
    if (name !== undefined && !known.has(name)) {
      known.add(name);
      appendFileSync(list, `${name}\n`);
    }
    return next(url, context);
  },
});
