import { addPasskey as add, logInByPasskey as logIn } from '@libs/ui/passkey';
import { client } from '../api/client.ts';
import type { Session } from '../api/types.ts';
import { SESSION_PATH } from './session.ts';

const calls = { client, sessionPath: SESSION_PATH };

export const logInByPasskey = (given?: unknown) => logIn<Session>(calls, given);
export const addPasskey = (name: string) => add(calls, name);
