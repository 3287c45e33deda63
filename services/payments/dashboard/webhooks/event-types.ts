import { eventTypes } from '../../src/events/event.ts';

/** What an endpoint can ask for; `*` stands for all. */
export const eventChoices = [...eventTypes];
